//! `stack`: make, show, select, remove, move and draw stacks.

mod for_pulumi;
mod graph;
mod history;
mod list;
mod migrate;
mod page;
mod references;
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

use super::config::copy;
use super::elsewhere::refuse;

use crate::arguments::{StackArguments, StackCommand, StackHistoryCommand, StackInit, StackSelect};
use crate::context::Context;
use crate::creation::{create, create_missing};
use crate::failure::{Failure, Result};
use crate::terminal::prompt;
use crate::workplace::Workplace;

/// Runs `stack`.
pub(crate) async fn run(context: &Context, arguments: StackArguments) -> Result<()> {
    let Some(command) = &arguments.command else { return show::stack(context, &arguments.show).await };
    match command {
        StackCommand::Get(arguments) => show::stack(context, arguments).await,
        StackCommand::Init(arguments) => init(context, arguments).await,
        StackCommand::Ls(arguments) => list::run(context, arguments).await,
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
        StackCommand::References(arguments) => references::run(context, arguments).await,
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
    create(&workplace, &stack).await?;
    if !arguments.no_select {
        workplace.select(Some(&stack))?;
    }
    if let Some((from, settings)) = copied {
        let values = copy::all(&settings);
        copy::into(&workplace, (&from, settings), &stack, values).await?;
    }
    context.console.line(&format!("Created stack '{}'", workplace.shown(&stack)));
    Ok(())
}

async fn select(context: &Context, arguments: &StackSelect) -> Result<()> {
    let mut workplace = Workplace::open(context)?;
    workplace.secrets_provider.clone_from(&arguments.secrets_provider);
    let stack = match arguments.stack_name.as_ref().or(context.global.stack.as_ref()) {
        Some(name) => workplace.parse_own_stack(name)?,
        None => workplace.choose_for_good().await?,
    };
    // Before anything is made.
    let wanted = tags::parse(&arguments.tags)?;
    let is_new = if arguments.create {
        create_missing(&workplace, &stack).await?
    } else if workplace.has(&stack).await? {
        false
    } else {
        return workplace.require(&stack).await;
    };
    workplace.select(Some(&stack))?;
    if is_new {
        context.console.line(&format!("Created stack '{}'", workplace.shown(&stack)));
    }
    tags::give(&workplace, &stack, wanted).await
}
