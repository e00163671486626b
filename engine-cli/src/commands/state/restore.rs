//! `state restore`: former states of a stack, and going back to one.

use std::collections::BTreeMap;

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{
    Crypter, GenerationReading, Snapshot, StackName, import_deployment, read_generations, restore_stack,
    salvage_journal,
};
use serde_json::json;

use super::super::{pretty, table, text};
use crate::arguments::StateRestore;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::history::Beginning;
use crate::plain::{count, readable_time};
use crate::terminal::prompt;
use crate::workplace::Workplace;

const COMMAND: &str = "maloko state restore";

pub(super) async fn run(context: &Context, arguments: &StateRestore) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.stack_name(None).await?;
    if arguments.journal {
        return journal(&workplace, &stack, arguments.yes).await;
    }
    let generations = read_generations(&*workplace.backend, &stack).await?;
    match arguments.generation {
        Some(number) => generation(&workplace, &stack, &generations, number, arguments.yes).await,
        None => list(&workplace, &stack, &generations, arguments.format.json()).await,
    }
}

async fn list(
    workplace: &Workplace<'_>,
    stack: &StackName,
    generations: &[GenerationReading],
    as_json: bool,
) -> Result<()> {
    let console = &workplace.context.console;
    if as_json {
        let entries: Vec<_> = generations
            .iter()
            .map(|GenerationReading { number, place, is_last, content }| match content {
                Ok(content) => json!({
                    "generation": number, "place": place, "written": content.written, "resourceCount": content.resources,
                    "pendingOperations": content.pending, "lastWritten": is_last,
                }),
                Err(problem) => {
                    json!({ "generation": number, "place": place, "lastWritten": is_last, "error": problem })
                }
            })
            .collect();
        console.line(&pretty(&json!(entries)));
        return Ok(());
    }
    let shown = workplace.shown(stack);
    if generations.is_empty() {
        // A name that was mistyped has no generations either.
        workplace.require(stack).await?;
        console.line(&format!("No former state of stack '{shown}' is kept; the first one is when the state changes"));
        return Ok(());
    }
    let mut table = table(&["GENERATION", "WRITTEN", "RESOURCE COUNT", "INTERRUPTED"]);
    for GenerationReading { number, content, .. } in generations {
        table.add_row(match content {
            Ok(content) => [
                number.to_string(),
                readable_time(&content.written),
                content.resources.to_string(),
                content.pending.to_string(),
            ],
            Err(_) => [number.to_string(), "cannot be read".to_owned(), "n/a".to_owned(), "n/a".to_owned()],
        });
    }
    console.print(&text(&table));
    if let Some(last) = generations.iter().find(|generation| generation.is_last) {
        console.line(&format!("Generation {} is the state as maloko wrote it last: {}", last.number, last.place));
    }
    console.line(&format!("Go back to one of them with `{COMMAND} --stack {shown} --generation N`"));
    Ok(())
}

async fn generation(
    workplace: &Workplace<'_>,
    stack: &StackName,
    generations: &[GenerationReading],
    number: u64,
    yes: bool,
) -> Result<()> {
    let shown = workplace.shown(stack);
    let Some(chosen) = generations.iter().find(|generation| generation.number == number) else {
        let kept: Vec<String> = generations.iter().map(|generation| generation.number.to_string()).collect();
        let kept = if kept.is_empty() { "none is kept".to_owned() } else { format!("kept are {}", kept.join(", ")) };
        return Err(Failure::new(format!("stack '{shown}' has no generation {number}: {kept}")));
    };
    let content = chosen.content.as_ref().map_err(|problem| Failure::new(problem.clone()))?;
    let missing = if chosen.is_last {
        "It is what maloko wrote last."
    } else {
        "What was made, changed or deleted since is not in it."
    };
    let question = format!(
        "The state of stack '{shown}' will be that of generation {number} again: {}, written {}. {missing} The state as it is \
         now is kept as a generation.",
        count(content.resources, "resource"),
        readable_time(&content.written)
    );
    prompt::permission(&workplace.context.console, yes, &question)?;
    let bytes = workplace.backend.load_generation(stack, number).await?;
    let crypter = crypter(workplace, stack, &import_deployment(&bytes, &chosen.place)?).await?;
    let beginning = Beginning::now(workplace, "restore");
    let options = workplace.session_options(crypter, COMMAND, workplace.checks_integrity());
    for notice in restore_stack(&*workplace.backend, stack, number, &options).await? {
        workplace.context.console.warn(&notice);
    }
    beginning.ended(workplace, stack, true, &BTreeMap::new(), None).await;
    let console = &workplace.context.console;
    console.line(&console.aim.tell(&message![
        format!("The state of stack '{shown}' is that of generation {number}; "),
        Command::new("refresh"),
        " compares it with what is there"
    ]));
    Ok(())
}

/// The present state may be what cannot be read, so it is asked last.
async fn crypter(workplace: &Workplace<'_>, stack: &StackName, snapshot: &Snapshot) -> Result<Crypter> {
    let mut settings = workplace.settings(stack)?;
    if let Some(crypter) = workplace.crypter_of_settings(stack, &settings)? {
        return Ok(crypter);
    }
    match workplace.crypter_of_state(stack, snapshot)? {
        Some(crypter) => Ok(crypter),
        None => workplace.crypter(stack, &mut settings).await,
    }
}

async fn journal(workplace: &Workplace<'_>, stack: &StackName, yes: bool) -> Result<()> {
    let shown = workplace.shown(stack);
    let question = format!(
        "The damaged journal of stack '{shown}' will be kept under another name, and the next command goes on with what is \
         readable of it. What comes after the damage is lost to the state."
    );
    prompt::permission(&workplace.context.console, yes, &question)?;
    let done = salvage_journal(&*workplace.backend, stack, COMMAND).await?;
    workplace.context.console.line(&done);
    Ok(())
}
