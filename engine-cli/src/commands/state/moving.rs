//! `state move`: resources of one stack become resources of another one.

use maloko_core::Urn;
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Checkpoint, Crypter, Session, Snapshot, StackName, UnfinishedCommand};

use super::edit;
use super::relocate::{MoveResult, relocate};
use crate::arguments::StateMove;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::plain::count;
use crate::shell;
use crate::terminal::prompt;
use crate::workplace::Workplace;

const COMMAND: &str = "maloko state move";

pub(super) async fn run(context: &Context, arguments: &StateMove) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let source = workplace.any_stack_name(arguments.source.as_deref()).await?;
    let dest = workplace.parse_stack(&arguments.dest)?;
    if source == dest {
        return Err(Failure::configuration(format!(
            "--source and --dest are both '{}'; name another stack with --dest",
            workplace.shown(&source)
        )));
    }
    workplace.require(&dest).await?;
    prompt::permission(
        &context.console,
        arguments.yes,
        &format!(
            "{} and what is below will be moved from stack '{}' to stack '{}'; the real resources stay as they are.",
            arguments.urns.join(", "),
            workplace.shown(&source),
            workplace.shown(&dest)
        ),
    )?;
    let command = command(arguments, &workplace.shown(&source));
    let (mark, mark_there) =
        (UnfinishedCommand::Moving(command.clone()), UnfinishedCommand::Receiving(command.clone()));
    let (from, from_crypter) = open(&workplace, &source, Some(&mark)).await?;
    let (to, to_crypter) = match open(&workplace, &dest, Some(&mark_there)).await {
        Ok(opened) => opened,
        Err(failure) => {
            from.abandon().await?;
            return Err(failure);
        }
    };
    let mut moved_from = whole(&from, &from_crypter)?;
    let mut moved_to = whole(&to, &to_crypter)?;
    let is_begun = from.is_marked() || to.is_marked();
    let done = wanted(&moved_from, &arguments.urns, is_begun).and_then(|wanted| match wanted.as_slice() {
        [] => Ok(MoveResult::default()),
        wanted => relocate(&mut moved_from, &mut moved_to, &dest, wanted, arguments.include_parents, is_begun),
    });
    let done = match done {
        Ok(done) => done,
        Err(failure) => {
            from.abandon().await?;
            to.abandon().await?;
            return Err(failure);
        }
    };
    // First where they arrive: whatever happens, no resource is in neither. That some may be in both is said by the marks.
    from.mark(&mark).await.map_err(|error| workplace.explain(error, &source))?;
    let moved = match hand_over(&from, moved_from, &to, moved_to, &mark_there).await {
        Ok(()) => Ok(()),
        // The reason why it failed is what the user needs to know.
        Err(error) => from.abandon().await.and(to.abandon().await).and(Err(error)),
    };
    moved.map_err(|error| {
        Failure::new(format!("{error}\nThe resources may be in both stacks now; finish it with `{command}`"))
    })?;
    for note in &done.notes {
        context.console.warn(note);
    }
    for (old, new) in &done.urns {
        context.console.line(&format!("{old}\n  is now {new}"));
    }
    context.console.line(&format!("Successfully moved resources from {source} to {dest}"));
    context.console.line(&message![
        format!(
            "Moved {} from stack '{}' to stack '{}'; move them from the one program to the other before the next ",
            count(done.urns.len(), "resource"),
            workplace.shown(&source),
            workplace.shown(&dest)
        ),
        Command::new("up")
    ]);
    Ok(())
}

/// The resources that these URNs and names mean.
fn wanted(snapshot: &Snapshot, texts: &[String], is_begun: bool) -> Result<Vec<Urn>> {
    // It may have been killed when they were gone from here, and only the mark was left.
    let is_left = |text: &&String| !is_begun || edit::is_borne(snapshot, text);
    texts.iter().filter(is_left).map(|text| edit::meant(snapshot, text)).collect()
}

/// Writes both states. Until the one is without the resources, neither stack can be used.
async fn hand_over(
    from: &Session,
    moved_from: Snapshot,
    to: &Session,
    moved_to: Snapshot,
    mark_there: &UnfinishedCommand,
) -> maloko_core::error::Result<()> {
    to.mark(mark_there).await?;
    let (_, broken) = to.write(moved_to).await?;
    from.compact(moved_from).await?;
    to.finish().await?;
    broken.map_or(Ok(()), Err)
}

/// The command that moves these resources.
fn command(arguments: &StateMove, source: &str) -> String {
    let parents = arguments.include_parents.then_some("--include-parents");
    let words = ["--source", source, "--dest", &arguments.dest].into_iter().chain(parents);
    let words = words.chain(arguments.urns.iter().map(String::as_str));
    words.fold(COMMAND.to_owned(), |command, word| format!("{command} {}", shell::word(word)))
}

async fn open(
    workplace: &Workplace<'_>,
    stack: &StackName,
    unfinished: Option<&UnfinishedCommand>,
) -> Result<(Session, Crypter)> {
    let mut crypter = crypter(workplace, stack).await?;
    if workplace.context.console.interactive && crypter.verify().is_err() {
        // A passphrase that was typed in for the one stack need not be that of the other one.
        workplace.forget_typed_passphrase();
        crypter = self::crypter(workplace, stack).await?;
    }
    crypter.verify().map_err(|error| Failure::from(error).of_stack(&workplace.shown(stack)))?;
    Ok((workplace.session_to_finish(stack, crypter.clone(), COMMAND, unfinished).await?, crypter))
}

async fn crypter(workplace: &Workplace<'_>, stack: &StackName) -> Result<Crypter> {
    if stack.project() == workplace.project.name {
        let mut settings = workplace.settings(stack)?;
        workplace.crypter(stack, &mut settings).await
    } else {
        // The settings file of another project is not at hand; its state knows the salt, too.
        let stored = workplace.stored(stack).await?;
        let snapshot = Checkpoint::decode(&stored.checkpoint, &stored.checkpoint_place)?.snapshot;
        match workplace.crypter_of_state(stack, &snapshot)? {
            Some(crypter) => Ok(crypter),
            None => workplace.new_crypter(stack).await,
        }
    }
}

/// The state with everything decrypted, references of providers included, so that it can be written under another key.
fn whole(session: &Session, crypter: &Crypter) -> Result<Snapshot> {
    let mut snapshot = session.snapshot().clone();
    snapshot.unseal_all(crypter)?;
    Ok(snapshot)
}
