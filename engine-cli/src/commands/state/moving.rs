//! `state move`: resources of one stack become resources of another one.

use maloko_core::Urn;
use maloko_core::state::{Crypter, Session, Snapshot, StackName};

use super::super::count;
use super::relocate::relocate;
use crate::arguments::StateMove;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::prompt;
use crate::workplace::Workplace;

const COMMAND: &str = "maloko state move";

pub(super) async fn run(context: &Context, arguments: &StateMove) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let source = workplace.stack_name(arguments.source.as_deref())?;
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
    let (from, from_crypter) = open(&workplace, &source).await?;
    let (to, to_crypter) = match open(&workplace, &dest).await {
        Ok(opened) => opened,
        Err(failure) => {
            from.abandon().await?;
            return Err(failure);
        }
    };
    let mut moved_from = whole(&from, &from_crypter)?;
    let mut moved_to = whole(&to, &to_crypter)?;
    let wanted: Vec<Urn> = arguments.urns.iter().map(|urn| Urn::unchecked(urn)).collect();
    let done = relocate(&mut moved_from, &mut moved_to, &dest, &wanted, arguments.include_parents);
    let done = match done {
        Ok(done) => done,
        Err(failure) => {
            from.abandon().await?;
            to.abandon().await?;
            return Err(failure);
        }
    };
    // First where they arrive: whatever happens, no resource is in neither.
    to.fold(moved_to).await?;
    from.fold(moved_from).await.map_err(|error| {
        Failure::new(format!(
            "{error}\nThe resources are in both stacks now: take them out of '{}' with `maloko state delete --stack {}`",
            workplace.shown(&source),
            workplace.shown(&source)
        ))
    })?;
    for note in &done.notes {
        context.console.warn(note);
    }
    for (old, new) in &done.urns {
        context.console.line(&format!("{old}\n  is now {new}"));
    }
    context.console.line(&format!(
        "Moved {} from stack '{}' to stack '{}'; move them from the one program to the other before the next `maloko up`",
        count(done.urns.len(), "resource"),
        workplace.shown(&source),
        workplace.shown(&dest)
    ));
    Ok(())
}

async fn open(workplace: &Workplace<'_>, stack: &StackName) -> Result<(Session, Crypter)> {
    let mut crypter = crypter(workplace, stack).await?;
    if workplace.context.console.interactive && crypter.verify().is_err() {
        // A passphrase that was typed in for the one stack need not be that of the other one.
        workplace.forget_typed_passphrase();
        crypter = self::crypter(workplace, stack).await?;
    }
    Ok((workplace.session(stack, crypter.clone(), COMMAND).await?, crypter))
}

async fn crypter(workplace: &Workplace<'_>, stack: &StackName) -> Result<Crypter> {
    if stack.project() == workplace.project.name {
        let mut settings = workplace.settings(stack)?;
        workplace.crypter(stack, &mut settings).await
    } else {
        // The settings file of another project is not at hand; its state knows the salt, too.
        let snapshot = workplace.read(stack).await?;
        workplace.crypter_of_state(stack, &snapshot)?.map_or_else(|| workplace.new_crypter(), Ok)
    }
}

/// The state with everything decrypted, references of providers included, so that it can be written under another key.
fn whole(session: &Session, crypter: &Crypter) -> Result<Snapshot> {
    let mut snapshot = session.snapshot().clone();
    snapshot.unseal_all(crypter)?;
    Ok(snapshot)
}
