//! `state`: edits of single resources in a stack's state. No provider is called.

mod by_hand;
mod edit;
mod get;
mod moving;
mod relocate;
#[cfg(test)]
mod relocate_tests;
mod restore;
#[cfg(test)]
mod tests;

use maloko_core::Urn;
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Snapshot, integrity};

use crate::arguments::{StateCommand, StateDelete, StateFlag, StateRename};
use crate::commands::elsewhere::refuse;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::plain::count;
use crate::terminal::prompt;
use crate::workplace::Workplace;

pub(crate) use edit::Flag;

/// Runs `state`.
pub(crate) async fn run(context: &Context, command: &StateCommand) -> Result<()> {
    match command {
        StateCommand::Get(arguments) => get::run(context, arguments).await,
        StateCommand::Delete(arguments) => delete(context, arguments).await,
        StateCommand::Rename(arguments) => rename(context, arguments).await,
        StateCommand::Protect(arguments) => flag(context, arguments, Flag::Protect, true).await,
        StateCommand::Unprotect(arguments) => flag(context, arguments, Flag::Protect, false).await,
        StateCommand::Taint(arguments) => flag(context, arguments, Flag::Taint, true).await,
        StateCommand::Untaint(arguments) => flag(context, arguments, Flag::Taint, false).await,
        StateCommand::Move(arguments) => moving::run(context, arguments).await,
        StateCommand::Restore(arguments) => restore::run(context, arguments).await,
        StateCommand::Edit => by_hand::run(context).await,
        StateCommand::Upgrade { .. } => upgrade(context),
        StateCommand::Elsewhere(command) => Err(refuse("state ", command.reason())),
        StateCommand::Repair { yes } => repair(context, *yes).await,
        StateCommand::Reseal { yes } => reseal(context, *yes).await,
    }
}

/// A store in an older layout is refused when it is opened, so there is nothing left to do.
fn upgrade(context: &Context) -> Result<()> {
    let workplace = Workplace::open(context)?;
    context
        .console
        .line(&format!("The state in {} has the present layout; nothing to upgrade", workplace.backend.url()));
    Ok(())
}

async fn reseal(context: &Context, yes: bool) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.stack_name(None).await?;
    let crypter = workplace.crypter_for_repair(&stack).await?;
    // What is found is said before the question.
    workplace.unchecked_read(&stack).await?;
    prompt::permission(
        &context.console,
        yes,
        "This accepts the state as it is now, with every change that was made outside maloko.",
    )?;
    let accepted = workplace.reseal(&stack, crypter).await?;
    for what in &accepted {
        context.console.line(&format!("Accepted: {what}"));
    }
    context.console.line(if accepted.is_empty() {
        "The state is as maloko left it; it was sealed again"
    } else {
        "The state is sealed as it is"
    });
    Ok(())
}

async fn repair(context: &Context, yes: bool) -> Result<()> {
    prompt::permission(
        &context.console,
        yes,
        "The state's resources will be put in order, and missing references dropped.",
    )?;
    let workplace = Workplace::open(context)?;
    let stack = workplace.stack_name(None).await?;
    let crypter = workplace.crypter_for_repair(&stack).await?;
    let session = workplace.unchecked_session(&stack, crypter, "maloko state repair").await?;
    let mut snapshot = session.snapshot().clone();
    let done = integrity::repair(&mut snapshot);
    let left = integrity::check(&snapshot).err();
    session.compact(snapshot).await?;
    for line in &done {
        context.console.line(line);
    }
    if let Some(violation) = left {
        return Err(Failure::new(message![
            format!("the state is not sound: {violation}. "),
            Command::new("state repair"),
            " cannot mend that. ",
            Command::new("state restore"),
            " lists the former states that are kept, and goes back to one of them; or mend the state by hand, with ",
            Command::new("state edit")
        ]));
    }
    context.console.line(if done.is_empty() {
        "The snapshot is already valid; skipping repair"
    } else {
        "State repaired successfully"
    });
    Ok(())
}

/// Opens the stack, lets `edit` change its resources (its answer is what to print), and writes them back. Nothing is
/// written when `edit` fails.
async fn edited(context: &Context, command: &str, edit: impl FnOnce(&mut Snapshot) -> Result<String>) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.stack_name(None).await?;
    let mut settings = workplace.settings(&stack)?;
    let crypter = workplace.crypter(&stack, &mut settings).await?;
    let session = workplace.session(&stack, crypter, command).await?;
    let mut snapshot = session.snapshot().clone();
    match edit(&mut snapshot) {
        Ok(done) => {
            session.compact(snapshot).await?;
            context.console.line(&done);
            Ok(())
        }
        Err(failure) => {
            session.abandon().await?;
            Err(failure)
        }
    }
}

async fn delete(context: &Context, arguments: &StateDelete) -> Result<()> {
    let question = match &arguments.urn {
        Some(urn) => format!("{urn} will be forgotten; the real resource stays as it is."),
        None => "Every resource will be forgotten; the real ones stay as they are.".to_owned(),
    };
    prompt::permission(&context.console, arguments.yes, &question)?;
    edited(context, "maloko state delete", |snapshot| {
        let Some(urn) = &arguments.urn else {
            edit::delete_all(snapshot, arguments.force)?;
            return Ok("Resources deleted".to_owned());
        };
        let urn = edit::meant(snapshot, urn)?;
        let choose = |choices: &[String]| {
            if context.console.interactive {
                prompt::choose("Several resources have this URN. Which one?", choices)
            } else {
                Err(Failure::new(format!(
                    "{urn} stands in the state {} times (one of them waits for its deletion); run this on a terminal to \
                     choose one",
                    choices.len()
                )))
            }
        };
        let gone = edit::delete(snapshot, &urn, arguments.force, arguments.target_dependents, &choose)?;
        Ok(match gone {
            1 => "Resource deleted".to_owned(),
            more => format!("Resource deleted, with {} that depended on it", count(more - 1, "resource")),
        })
    })
    .await
}

async fn rename(context: &Context, arguments: &StateRename) -> Result<()> {
    let question = format!("{} will be renamed to '{}' in the state.", arguments.urn, arguments.new_name);
    prompt::permission(&context.console, arguments.yes, &question)?;
    edited(context, "maloko state rename", |snapshot| {
        let urn = edit::meant(snapshot, &arguments.urn)?;
        edit::rename(snapshot, &urn, &arguments.new_name)?;
        Ok("Resource renamed".to_owned())
    })
    .await
}

async fn flag(context: &Context, arguments: &StateFlag, flag: Flag, on: bool) -> Result<()> {
    let name = format!("maloko state {}", flag.verb(on));
    let what = if arguments.all { "every resource".to_owned() } else { arguments.urns.join(", ") };
    // Taking a protection away from one named resource is what was asked for; from all of them it deserves a question.
    if arguments.all {
        prompt::permission(&context.console, arguments.yes, &format!("This will {} {what}.", flag.verb(on)))?;
    }
    edited(context, &name, |snapshot| {
        let urns: Vec<Urn> = arguments.urns.iter().map(|urn| edit::meant(snapshot, urn)).collect::<Result<_>>()?;
        let changed = edit::set_flag(snapshot, &urns, arguments.all, flag, on)?;
        // Pulumi's words, whatever the number is: scripts look for them.
        Ok(if arguments.all {
            format!("All resources {}", flag.done(on))
        } else {
            format!("{changed} resources {}", flag.done(on))
        })
    })
    .await
}
