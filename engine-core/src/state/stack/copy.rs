//! Moving a whole stack from one store to another (`stack migrate`).
//!
//! The copy is marked as unfinished from its first write on, by what stands in the place of its checkpoint and then in that
//! of its journal, until all of it is there: until then every command that reads it says so and names the source. Taking the mark away is the one step that makes the copy a
//! stack. So at every moment the source is whole, or the copy is, or both are.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::message;
use crate::message::Command;

use crate::state::backend::{Backend, Lease, MIN_GENERATIONS, StoredEntry, StoredStack};
use crate::state::journal::unfinished::{self, UnfinishedCommand};
use crate::state::name::StackName;

/// The command, as others see it while it holds a stack.
const OPERATION: &str = "stack migrate";

/// What a migration did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MigrationReport {
    /// The source's checkpoint in bytes.
    pub bytes: usize,
    /// Former states that went along.
    pub generations: usize,
    /// Entries of the history that went along.
    pub history: usize,
    /// The whole copy was there before: an earlier attempt was interrupted after its last step.
    pub was_there: bool,
    /// The source was removed.
    pub removed: bool,
}

/// Copies a stack with its former states, its history and its seal, byte for byte, and then removes the source if it is
/// asked for. A stack with a journal is refused: what a killed run left behind is settled first. So is a target that
/// has a stack of that name, unless it is an unfinished copy of this one (then it is begun anew) or the same state.
pub async fn migrate_stack(
    source: &dyn Backend,
    target: &dyn Backend,
    stack: &StackName,
    remove_source: bool,
) -> Result<MigrationReport> {
    let (from, to) = (source.url(), target.url());
    if from == to {
        return Err(Error::Configuration(format!("the stack '{}' is kept in {to} already", stack.stack()).into()));
    }
    let held = source.lease(stack, OPERATION).await?;
    let migrated = migrate_leased(source, target, stack, &held, remove_source).await;
    // The reason why it failed is what the user needs to know.
    let released = held.release().await;
    let copied = migrated?;
    released?;
    Ok(copied)
}

async fn migrate_leased(
    source: &dyn Backend,
    target: &dyn Backend,
    stack: &StackName,
    held: &Arc<dyn Lease>,
    remove_source: bool,
) -> Result<MigrationReport> {
    let to = target.url();
    let stored = held.load().await?;
    unfinished::check(&stored)?;
    if stored.journal.is_some() {
        return Err(Error::BadState(message![
            format!(
                "a run on the stack '{}' in {} was interrupted, and its journal is not compacted yet; run ",
                stack.stack(),
                source.url()
            ),
            Command::new("up"),
            " or ",
            Command::new("refresh"),
            " there first. Nothing was changed"
        ]));
    }
    let mut copied = match target.load(stack).await {
        Err(Error::NoStack { .. }) => copy(source, target, stack, &stored).await?,
        Err(error) => return Err(at_target(&to, error)),
        Ok(present) => {
            // Were both the same store under two names, this lease would be refused.
            let other = target.lease(stack, OPERATION).await.map_err(|error| at_target(&to, error))?;
            let same = present.journal.is_none() && present.checkpoint == stored.checkpoint;
            let marked = UnfinishedCommand::of(&present) == Some(UnfinishedCommand::CopyOf(source.url()));
            if marked {
                other.remove_stack().await?;
                other.release().await?;
                copy(source, target, stack, &stored).await?
            } else if same {
                other.release().await?;
                MigrationReport {
                    bytes: stored.checkpoint.len(),
                    generations: 0,
                    history: 0,
                    was_there: true,
                    removed: false,
                }
            } else {
                other.release().await?;
                return Err(Error::Configuration(format!(
                    "there is another stack '{}' in {} already; remove or rename it, or rename this one first. Nothing was \
                     changed",
                    stack.stack(),
                    target.url()
                ).into()));
            }
        }
    };
    if remove_source {
        held.remove_stack().await.map_err(|error| {
            Error::BadState(
                format!(
                    "the stack '{}' is whole in {}, and it could not be removed from {}: {error}",
                    stack.stack(),
                    target.url(),
                    source.url()
                )
                .into(),
            )
        })?;
        copied.removed = true;
    }
    Ok(copied)
}

async fn copy(
    source: &dyn Backend,
    target: &dyn Backend,
    stack: &StackName,
    stored: &StoredStack,
) -> Result<MigrationReport> {
    let mut generations = Vec::new();
    for generation in source.generations(stack).await? {
        generations.push(source.load_generation(stack, generation.number).await?);
    }
    let history = source.history(stack, 0).await?;
    // The mark comes first, in the place of the checkpoint: at no moment is there a copy without it.
    target.create(stack, &UnfinishedCommand::CopyOf(source.url()).encode()?).await?;
    let filled = fill(source, target, stack, stored, &generations, &history).await;
    filled.map_err(|error| {
        Error::BadState(format!(
            "the stack '{}' could not be copied to {}: {error}. The whole stack is still in {}; run the command again to \
             begin anew",
            stack.stack(),
            target.url(),
            source.url()
        ).into())
    })?;
    Ok(MigrationReport {
        bytes: stored.checkpoint.len(),
        generations: generations.len(),
        history: history.len(),
        was_there: false,
        removed: false,
    })
}

/// Fills the new stack, which holds a mark; `generations` come with the newest first.
async fn fill(
    source: &dyn Backend,
    target: &dyn Backend,
    stack: &StackName,
    stored: &StoredStack,
    generations: &[Vec<u8>],
    history: &[StoredEntry],
) -> Result<()> {
    let lease = target.lease(stack, OPERATION).await?;
    UnfinishedCommand::CopyOf(source.url()).put_on(&*lease).await?;
    add_former(&*lease, generations.iter().rev(), &stored.checkpoint).await?;
    if let Some(seal) = &stored.seal {
        lease.write_seal(seal).await?;
    }
    if let Some(tags) = source.tags(stack).await? {
        lease.write_tags(&tags).await?;
    }
    target.adopt_history(stack, history).await?;
    let arrived = lease.load().await?;
    if arrived.checkpoint != stored.checkpoint || arrived.seal != stored.seal {
        return Err(Error::BadState("what arrived is not what was sent".into()));
    }
    lease.remove_journal().await?;
    lease.release().await
}

/// Gives a stack that was made with a mark the former checkpoints, the oldest first, and then the present one.
pub(in crate::state) async fn add_former(
    lease: &dyn Lease,
    former: impl ExactSizeIterator<Item = &Vec<u8>>,
    present: &[u8],
) -> Result<()> {
    // What the stack was made with becomes a generation as well, and the first one to go.
    let keep = MIN_GENERATIONS.max(former.len());
    for checkpoint in former {
        lease.replace(checkpoint, keep).await?;
    }
    lease.replace(present, keep).await
}

/// The commands that an error names are about the source, if nothing else is said.
fn at_target(target: &str, error: Error) -> Error {
    let told = |text| format!("{text} (in {target}: add `--backend '{target}'` to the commands that are named)");
    match error {
        Error::InUse { message, holder } => Error::InUse { message: told(message).into(), holder },
        Error::Locked(text) => Error::Locked(told(text).into()),
        Error::BadState(text) => Error::BadState(told(text).into()),
        other => other,
    }
}

#[cfg(test)]
#[path = "copy_tests.rs"]
mod tests;
