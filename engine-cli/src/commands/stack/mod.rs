//! `stack`: make, show, select, remove, move and draw stacks.

mod for_pulumi;
mod graph;
mod history;
mod migrate;
mod page;
mod rekey;
mod remove;
mod rename;
mod show;
mod tags;
mod transfer;
mod unresolved_creates;
mod versions;

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{ORGANIZATION, Snapshot, StackName, has_ended};
use serde_json::json;

use super::config::copy;
use super::elsewhere::refuse;
use super::{pretty, table, text};

use crate::arguments::{StackArguments, StackCommand, StackHistoryCommand, StackInit, StackList, StackSelect};
use crate::backend::{confirm_new_directory, guard_first_stack, make_project_directory};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::terminal::prompt;
use crate::workplace::Workplace;
use crate::workplace::tags as stack_tags;

/// Runs `stack`.
pub(crate) async fn run(context: &Context, arguments: StackArguments) -> Result<()> {
    let Some(command) = &arguments.command else { return show::stack(context, &arguments.show).await };
    match command {
        StackCommand::Get(arguments) => show::stack(context, arguments).await,
        StackCommand::Init(arguments) => init(context, arguments).await,
        StackCommand::Ls(arguments) => list(context, arguments).await,
        StackCommand::Select(arguments) => select(context, arguments).await,
        StackCommand::Unselect => Workplace::open(context)?.select(None),
        StackCommand::Tag { command } => tags::run(context, command).await,
        StackCommand::Elsewhere(command) => Err(refuse("stack ", command.reason())),
        StackCommand::Rm(arguments) => remove::run(context, arguments).await,
        StackCommand::Output(arguments) => show::output(context, arguments).await,
        StackCommand::Export(arguments) => transfer::export(context, arguments).await,
        StackCommand::Import(arguments) => transfer::import(context, arguments).await,
        StackCommand::Rename(arguments) => rename::run(context, arguments).await,
        StackCommand::Migrate(arguments) => migrate::run(context, arguments).await,
        StackCommand::ChangeSecretsProvider(arguments) => rekey::run(context, arguments).await,
        StackCommand::History(arguments) => match &arguments.command {
            Some(StackHistoryCommand::Show(arguments)) => page::show(context, arguments).await,
            Some(StackHistoryCommand::Page(arguments)) => page::run_of_the_past(context, arguments).await,
            None => history::run(context, arguments).await,
        },
        StackCommand::Page(arguments) => page::stack(context, arguments).await,
        StackCommand::Graph(arguments) => graph::run(context, arguments).await,
    }
}

async fn init(context: &Context, arguments: &StackInit) -> Result<()> {
    let mut workplace = Workplace::open(context)?;
    workplace.secrets_provider.clone_from(&arguments.secrets_provider);
    let name = match arguments.stack_name.as_ref().or(context.global.stack.as_ref()) {
        Some(name) => name.clone(),
        None if context.console.interactive => prompt::text("Name of the new stack", Some("dev"))?,
        None => {
            return Err(Failure::configuration(message![
                "name the new stack: ",
                Command::new("stack init").with("NAME")
            ]));
        }
    };
    let stack = workplace.parse_own_stack(&name)?;
    let copied = match &arguments.copy_config_from {
        Some(from) => {
            let from = workplace.parse_own_stack(from)?;
            workplace.require(&from).await?;
            let settings = workplace.settings(&from)?;
            Some((from, settings))
        }
        None => None,
    };
    create(&workplace, &stack, !arguments.no_select).await?;
    if let Some((from, settings)) = copied {
        let values = copy::all(&settings);
        copy::into(&workplace, (&from, settings), &stack, values).await?;
    }
    context.console.line(&format!("Created stack '{}'", workplace.shown(&stack)));
    Ok(())
}

/// Makes an empty stack with a key for its secrets, and selects it.
pub(crate) async fn create(workplace: &Workplace<'_>, stack: &StackName, select: bool) -> Result<()> {
    let existing = workplace.backend.list().await?;
    if existing.contains(stack) {
        return Err(exists(workplace, stack));
    }
    // The project's own directory is made for it.
    if !workplace.is_embedded() {
        confirm_new_directory(workplace.context, &workplace.place)?;
    }
    if !existing.iter().any(|other| other.project() == stack.project()) {
        guard_first_stack(workplace.context, &workplace.project, &workplace.place)?;
    }
    if workplace.is_embedded() {
        make_project_directory(&workplace.project)?;
    }
    let mut settings = workplace.settings(stack)?;
    let crypter = workplace.crypter_of_new_stack(stack, &settings).await?;
    if !workplace.make_in_store(stack, &crypter).await? {
        return Err(exists(workplace, stack));
    }
    workplace.name_key(&mut settings, &crypter)?;
    if select { workplace.select(Some(stack)) } else { Ok(()) }
}

fn exists(workplace: &Workplace<'_>, stack: &StackName) -> Failure {
    let message = message![
        format!("stack '{}' already exists; choose it with ", workplace.shown(stack)),
        Command::new("stack select").value(workplace.shown(stack))
    ];
    Failure::stack_exists(message)
}

async fn list(context: &Context, arguments: &StackList) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let selected = workplace.selected().unwrap_or_default();
    let mut stacks = workplace.backend.list().await?;
    let project = arguments.project.as_deref().unwrap_or(&workplace.project.name);
    stacks.retain(|stack| arguments.all || stack.project() == project);
    if arguments.organization.as_ref().is_some_and(|name| name != ORGANIZATION) {
        stacks.clear();
    }
    if let Some(tag) = &arguments.tag {
        let mut tagged = Vec::new();
        for stack in stacks {
            if stack_tags::has(&stack_tags::read(&workplace, &stack).await?, tag) {
                tagged.push(stack);
            }
        }
        stacks = tagged;
    }
    let mut rows = Vec::new();
    for stack in &stacks {
        // One stack that cannot be read must not hide the others.
        let snapshot = match workplace.read(stack).await {
            Ok(snapshot) => Ok(snapshot),
            Err(failure) => {
                context.console.warn(&failure.message);
                Err(failure.message)
            }
        };
        let busy = !workplace.backend.holders(stack).await.unwrap_or_default().iter().all(has_ended);
        rows.push((stack, snapshot, busy));
    }
    if arguments.format.json() {
        let entries: Vec<_> = rows
            .iter()
            .map(|(stack, snapshot, busy)| {
                let mut entry = json!({
                    "name": workplace.shown(stack),
                    "current": selected.as_ref() == Some(*stack),
                    "updateInProgress": busy,
                    "resourceCount": snapshot.as_ref().ok().map(resource_count),
                });
                // A stack to which nothing was done has no such member, as in Pulumi.
                if let Some(time) = snapshot.as_ref().ok().and_then(last_update) {
                    entry["lastUpdate"] = json!(in_json(&time));
                }
                if let Err(problem) = snapshot {
                    entry["error"] = json!(problem);
                }
                entry
            })
            .collect();
        context.console.line(&pretty(&json!(entries)));
        return Ok(());
    }
    let mut table = table(&["NAME", "LAST UPDATE", "RESOURCE COUNT"]);
    for (stack, snapshot, busy) in &rows {
        let mark = if selected.as_ref() == Some(*stack) { "*" } else { "" };
        let when = match snapshot.as_ref().map(last_update) {
            Err(_) => "cannot be read".to_owned(),
            Ok(_) if *busy => "in progress".to_owned(),
            Ok(Some(when)) => crate::plain::readable_time(&when),
            Ok(None) => "n/a".to_owned(),
        };
        let resources = snapshot.as_ref().map_or_else(|_| "n/a".to_owned(), |found| resource_count(found).to_string());
        table.add_row([format!("{}{mark}", workplace.shown(stack)), when, resources]);
    }
    context.console.print(&text(&table));
    Ok(())
}

/// When the state was last written.
fn last_update(snapshot: &Snapshot) -> Option<String> {
    let time = snapshot.other.get("manifest")?.get("time")?.as_str()?;
    (!time.starts_with("0001-")).then(|| time.to_owned())
}

/// A time as JSON for scripts has it, to the millisecond; what is no time is shown as it is.
fn in_json(time: &str) -> String {
    match time.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string(),
        Err(_) => time.to_owned(),
    }
}

/// How many resources there are, those that wait for their deletion included.
fn resource_count(snapshot: &Snapshot) -> usize {
    snapshot.resources.len()
}

async fn select(context: &Context, arguments: &StackSelect) -> Result<()> {
    let mut workplace = Workplace::open(context)?;
    workplace.secrets_provider.clone_from(&arguments.secrets_provider);
    let stack = match arguments.stack_name.as_ref().or(context.global.stack.as_ref()) {
        Some(name) => workplace.parse_own_stack(name)?,
        None => workplace.choose_for_good().await?,
    };
    if workplace.backend.list().await?.contains(&stack) {
        workplace.select(Some(&stack))
    } else if arguments.create {
        create(&workplace, &stack, true).await?;
        context.console.line(&format!("Created stack '{}'", workplace.shown(&stack)));
        Ok(())
    } else {
        workplace.require(&stack).await
    }
}
