//! `cancel`: removes the locks of a stack.

use crate::context::Context;
use crate::failure::Result;
use crate::terminal::prompt;
use crate::workplace::Workplace;

/// Runs `cancel`.
pub(crate) async fn run(context: &Context, stack_name: Option<&str>, yes: bool) -> Result<()> {
    let workplace = Workplace::open(context)?;
    let stack = workplace.any_stack_name(stack_name).await?;
    workplace.require(&stack).await?;
    let shown = workplace.shown(&stack);
    let holders = workplace.backend.holders(&stack).await?;
    if holders.is_empty() {
        context.console.line(&format!("The stack '{shown}' is not locked"));
        return Ok(());
    }
    let names: Vec<String> = holders.iter().map(|holder| format!("  {holder}")).collect();
    let question = format!(
        "The stack '{shown}' is locked by:\n{}\nA run that still works on it will fail when its lock is gone.",
        names.join("\n")
    );
    prompt::permission(&context.console, yes, &question)?;
    let gone = workplace.backend.break_locks(&stack).await?;
    context.console.line(&format!("The currently running update for '{shown}' has been canceled!"));
    context.console.line(&format!("{} of the stack '{shown}' removed", crate::plain::count(gone.len(), "lock")));
    Ok(())
}
