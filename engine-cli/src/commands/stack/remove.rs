//! `stack rm`.

use maloko_core::message;
use maloko_core::message::Command;

use crate::arguments::StackRemove;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::removal::{ObservedStack, StackContents, delete};
use crate::terminal::prompt;
use crate::workplace::Workplace;

/// Runs `stack rm`.
pub(super) async fn run(context: &Context, arguments: &StackRemove) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.stack_name(arguments.stack_name.as_deref()).await?;
    let shown = workplace.shown(&stack);
    // What cannot be read any more can still be removed.
    let seen = if arguments.force {
        workplace.require(&stack).await?;
        None
    } else {
        Some(ObservedStack::look(&workplace, &stack).await?)
    };
    match seen.as_ref().map(|seen| &seen.contents) {
        Some(StackContents::Resources(resources)) => Err(Failure::new(message![
            format!("'{shown}' still has resources; removal rejected. Delete the {resources} with "),
            Command::new("destroy").with("--stack").value(&shown),
            ", or forget them with ",
            Command::new("stack rm").value(&shown).with("--force")
        ])),
        Some(StackContents::UnresolvedCreates(unresolved_creates)) => Err(Failure::new(message![
            format!("stack '{shown}' still knows of {unresolved_creates} whose objects may exist: "),
            Command::new("stack").with("--stack").value(&shown),
            " lists them. Look for the objects, then forget the creates with ",
            Command::new("refresh").with("--clear-pending-creates --stack").value(&shown),
            ", or with the stack: ",
            Command::new("stack rm").value(&shown).with("--force")
        ])),
        Some(StackContents::Nothing) | None => Ok(()),
    }?;
    prompt::permission(&context.console, arguments.yes, &format!("The stack '{shown}' will be removed."))?;
    delete(&workplace, &stack, seen.as_ref(), arguments.preserve_config).await?;
    context.console.line(&format!("Stack '{shown}' has been removed!"));
    Ok(())
}
