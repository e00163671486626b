//! `stack tag`: names and values that a stack is found by. They stand beside the state, where Pulumi keeps them.

use std::collections::BTreeMap;

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::StackName;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::{pretty, table, text};
use crate::arguments::StackTagCommand;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::workplace::Workplace;

/// The version of the form in which they are stored.
const VERSION: u64 = 1;
/// What Pulumi allows, in characters.
const LONGEST_NAME: usize = 40;
const LONGEST_VALUE: usize = 256;

/// Tags as they are stored.
#[derive(Debug, Default, Serialize, Deserialize)]
struct TagsFile {
    version: u64,
    #[serde(default)]
    tags: BTreeMap<String, String>,
}

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

/// The tags of a stack.
pub(super) async fn read(workplace: &Workplace<'_>, stack: &StackName) -> Result<BTreeMap<String, String>> {
    let stored = workplace.backend.tags(stack).await.map_err(|error| workplace.explain(error, stack))?;
    let Some(bytes) = stored else { return Ok(BTreeMap::new()) };
    let damaged = |why: String| {
        Failure::new(format!(
            "the tags of the stack '{}' in {} cannot be read: {why}; mend {}.pulumi-tags there, or remove it",
            workplace.shown(stack),
            workplace.backend.url(),
            stack.stack()
        ))
    };
    let stored: TagsFile = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    match stored.version {
        VERSION => Ok(stored.tags),
        newer => Err(damaged(format!("their form {newer} is one of a newer version"))),
    }
}

/// Changes tags under the stack's lock: of two changes at once, neither undoes the other.
async fn change(
    workplace: &Workplace<'_>,
    stack: &StackName,
    change: impl FnOnce(&mut BTreeMap<String, String>),
) -> Result<()> {
    let explain = |error| workplace.explain(error, stack);
    let lease = workplace.backend.lease(stack, "maloko stack tag").await.map_err(explain)?;
    let changed = async {
        let mut tags = read(workplace, stack).await?;
        change(&mut tags);
        let stored = TagsFile { version: VERSION, tags };
        let bytes = serde_json::to_vec(&stored).map_err(|error| Failure::new(error.to_string()))?;
        lease.write_tags(&bytes).await.map_err(explain)
    }
    .await;
    // The reason why it failed is what the user needs to know.
    let released = lease.release().await.map_err(explain);
    changed.and(released)
}

fn check(name: &str, value: &str) -> Result<()> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || "-_.:".contains(character);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(allowed) {
        return Err(Failure::configuration(format!(
            "'{name}' cannot be a tag: it has 1 to {LONGEST_NAME} letters, digits, '-', '_', '.' and ':'"
        )));
    }
    if value.chars().count() > LONGEST_VALUE {
        return Err(Failure::configuration(format!(
            "the value of the tag '{name}' is too long: {LONGEST_VALUE} characters are allowed"
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

/// Has the stack this tag (`NAME`), with this value (`NAME=VALUE`)?
pub(super) fn has(tags: &BTreeMap<String, String>, wanted: &str) -> bool {
    match wanted.split_once('=') {
        Some((name, value)) => tags.get(name).is_some_and(|found| found == value),
        None => tags.contains_key(wanted),
    }
}
