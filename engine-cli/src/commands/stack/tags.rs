//! `stack tag`: the verbs for names and values that a stack is found by.

use std::collections::BTreeMap;

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::StackName;
use serde_json::json;

use super::super::{pretty, table, text};
use crate::arguments::StackTagCommand;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::workplace::Workplace;
use crate::workplace::tags::{change, read};

/// What Pulumi allows, in characters.
const MAX_NAME_LENGTH: usize = 40;
const MAX_VALUE_LENGTH: usize = 256;

/// Runs `stack tag`.
pub(super) async fn run(context: &Context, command: &StackTagCommand) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(None).await?;
    match command {
        StackTagCommand::Get { name } => {
            let tags = read(&workplace, &stack).await?;
            let value = tags.get(name).ok_or_else(|| not_found(&workplace, &stack, name))?;
            context.console.line(value);
        }
        StackTagCommand::Set { name, value } => {
            check(name, value)?;
            change(&workplace, &stack, |tags| drop(tags.insert(name.clone(), value.clone()))).await?;
        }
        // As in Pulumi, one that is not there is gone already.
        StackTagCommand::Rm { name } => change(&workplace, &stack, |tags| drop(tags.remove(name))).await?,
        StackTagCommand::Ls { format } => {
            let tags = read(&workplace, &stack).await?;
            if format.json() {
                context.console.line(&pretty(&json!(tags)));
            } else {
                let mut shown = table(&["NAME", "VALUE"]);
                for (name, value) in tags {
                    shown.add_row([name, value]);
                }
                context.console.print(&text(&shown));
            }
        }
    }
    Ok(())
}

/// Reads tags as an option has them: `NAME=VALUE`.
pub(super) fn parse(written: &[String]) -> Result<BTreeMap<String, String>> {
    let one = |tag: &String| {
        let (name, value) = tag.split_once('=').ok_or_else(|| {
            Failure::configuration(format!("'{tag}' is no tag: write NAME=VALUE, such as --tag tenant=acme"))
        })?;
        check(name, value)?;
        Ok((name.to_owned(), value.to_owned()))
    };
    written.iter().map(one).collect()
}

/// Gives a stack these tags; others stay. Nothing is written where it has them.
pub(super) async fn give(workplace: &Workplace<'_>, stack: &StackName, wanted: BTreeMap<String, String>) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let present = read(workplace, stack).await?;
    if wanted.iter().all(|(name, value)| present.get(name) == Some(value)) {
        return Ok(());
    }
    change(workplace, stack, |tags| tags.extend(wanted)).await
}

fn check(name: &str, value: &str) -> Result<()> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "-_.:".contains(character);
    if name.is_empty() || name.len() > MAX_NAME_LENGTH || !name.chars().all(allowed) {
        return Err(Failure::configuration(format!(
            "'{name}' cannot be a tag: it has 1 to {MAX_NAME_LENGTH} letters, digits, '-', '_', '.' and ':'"
        )));
    }
    if value.chars().count() > MAX_VALUE_LENGTH {
        return Err(Failure::configuration(format!(
            "the value of the tag '{name}' is too long: {MAX_VALUE_LENGTH} characters are allowed"
        )));
    }
    Ok(())
}

fn not_found(workplace: &Workplace<'_>, stack: &StackName, name: &str) -> Failure {
    Failure::new(message![
        format!("stack tag '{name}' not found for stack '{}'; list the tags with ", workplace.shown(stack)),
        Command::new("stack tag ls")
    ])
}
