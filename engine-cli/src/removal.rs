//! Removing a stack with its settings file and its selection, never more than was looked at before.

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Lease, Snapshot, StackName, StoredStack, UnfinishedCommand, UnknownOutcome};

use crate::failure::{Failure, Result};
use crate::plain::count;
use crate::workplace::Workplace;

/// What the lock of a removal is held for.
const COMMAND: &str = "maloko stack rm";

/// What would be forgotten with a stack.
pub(crate) enum StackContents {
    Nothing,
    Resources(String),
    /// Creates whose outcome is unknown.
    UnresolvedCreates(String),
}

/// A stack as it was before there was a lock.
pub(crate) struct ObservedStack {
    stored: StoredStack,
    pub(crate) contents: StackContents,
}

impl ObservedStack {
    pub(crate) async fn look(workplace: &Workplace<'_>, stack: &StackName) -> Result<Self> {
        // Before the state is read: what comes between the two shows under the lock.
        let stored = workplace.stored(stack).await?;
        let snapshot = workplace.read(stack).await?;
        let resources = snapshot.resources.iter().filter(|resource| !resource.urn.is_root_stack()).count();
        let contents = match (resources, uncertain(&snapshot)) {
            (0, 0) => StackContents::Nothing,
            (0, unresolved_creates) => StackContents::UnresolvedCreates(count(unresolved_creates, "unresolved create")),
            (resources, _) => StackContents::Resources(count(resources, "resource")),
        };
        Ok(Self { stored, contents })
    }
}

/// How many objects there may be that no resource stands for. A create that raised made none, by the SDKs' contract.
fn uncertain(snapshot: &Snapshot) -> usize {
    snapshot
        .all_unresolved_creates()
        .iter()
        .filter(|unresolved| unresolved.unknown_outcome != UnknownOutcome::Raised)
        .count()
}

/// Removes a stack of which a run has destroyed everything.
pub(crate) async fn remove_empty(workplace: &Workplace<'_>, stack: &StackName) -> Result<()> {
    let shown = workplace.shown(stack);
    let seen = ObservedStack::look(workplace, stack).await?;
    match &seen.contents {
        StackContents::Resources(resources) => {
            Err(Failure::new(format!("the stack '{shown}' was not removed: {resources} left in it")))
        }
        StackContents::UnresolvedCreates(unresolved_creates) => Err(Failure::new(message![
            format!(
                "the stack '{shown}' was not removed: it still knows of {unresolved_creates} whose objects may exist. "
            ),
            Command::new("stack"),
            " lists them; look for the objects, then forget the creates with ",
            Command::new("refresh").with("--clear-pending-creates")
        ])),
        StackContents::Nothing => Ok(()),
    }?;
    delete(workplace, stack, Some(&seen), false).await?;
    workplace.context.console.note(format!("Stack '{shown}' has been removed!"));
    Ok(())
}

/// What a killed run left behind becomes part of the state, if that can be read: a run that is not known of is not known to
/// have made anything.
async fn settle(workplace: &Workplace<'_>, stack: &StackName) {
    let open = async {
        if workplace.stored(stack).await?.journal.is_none() {
            return Ok(());
        }
        let mut settings = workplace.settings(stack)?;
        let crypter = workplace.crypter(stack, &mut settings).await?;
        // This alone takes the journal up.
        workplace.session(stack, crypter, COMMAND).await?.abandon().await.map_err(Failure::from)
    };
    // What cannot be read any more can still be removed.
    let _: Result<()> = open.await;
}

/// The state that is removed with everything in it stays as the newest of the generations, so that it can be brought back.
async fn keep_newest(workplace: &Workplace<'_>, lease: &dyn Lease, found: &StoredStack) -> Result<()> {
    if found.journal.as_deref().is_some_and(|journal| UnfinishedCommand::decode(journal).is_none()) {
        let place = lease.set_journal_aside().await?;
        workplace.context.console.warn(format!(
            "a run was interrupted whose journal cannot be taken up; it is kept as {place}, and may know of objects that the \
             state does not"
        ));
    }
    if !found.checkpoint.is_empty() {
        lease.replace(&found.checkpoint, workplace.keep_generations.saturating_add(1)).await?;
    }
    Ok(())
}

/// Removes a stack, its settings file and its selection; not when it is no longer as it was `seen`.
pub(crate) async fn delete(
    workplace: &Workplace<'_>,
    stack: &StackName,
    seen: Option<&ObservedStack>,
    preserve_config: bool,
) -> Result<()> {
    if seen.is_none() {
        settle(workplace, stack).await;
    }
    let lease = workplace.backend.lease(stack, COMMAND).await?;
    match seen {
        Some(ObservedStack { stored: seen, .. }) => {
            let found = lease.load().await?;
            if (&found.checkpoint, &found.journal) != (&seen.checkpoint, &seen.journal) {
                lease.release().await?;
                let shown = workplace.shown(stack);
                return Err(Failure::new(message![
                    format!(
                        "the stack '{shown}' was changed by another run in the meantime, so it was not removed; look \
                         at it with "
                    ),
                    Command::new("stack").with("--stack").value(&shown),
                    ", and run the command again"
                ]));
            }
        }
        None => {
            if let Ok(found) = lease.load().await {
                keep_newest(workplace, &*lease, &found).await?;
            }
        }
    }
    lease.remove_stack().await?;
    lease.release().await?;
    if !preserve_config {
        let file = workplace.settings_file(stack);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Failure::io(format!("the settings file {} cannot be removed", file.display()), &error));
            }
            _ => {}
        }
    }
    if workplace.selected().unwrap_or_default().as_ref() == Some(stack) {
        workplace.select(None)?;
    }
    Ok(())
}
