//! Making a stack with its settings file, where there is none of that name.

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::StackName;

use crate::backend::{confirm_new_directory, guard_first_stack, make_project_directory};
use crate::failure::{Failure, Result};
use crate::workplace::Workplace;

/// Makes an empty stack with a key for its secrets.
pub(crate) async fn create(workplace: &Workplace<'_>, stack: &StackName) -> Result<()> {
    if create_missing(workplace, stack).await? { Ok(()) } else { Err(exists(workplace, stack)) }
}

/// Does the same where there is no stack of that name; tells whether it did. Others may be making the stack at the same time.
pub(crate) async fn create_missing(workplace: &Workplace<'_>, stack: &StackName) -> Result<bool> {
    if workplace.has(stack).await? {
        return Ok(false);
    }
    // The project's own directory is made for it.
    if !workplace.is_embedded() {
        confirm_new_directory(workplace.context, &workplace.place)?;
    }
    if workplace.is_embedded() && workplace.own_stacks().await?.is_empty() {
        guard_first_stack(workplace.context, &workplace.project, &workplace.place)?;
    }
    if workplace.is_embedded() {
        make_project_directory(&workplace.project)?;
    }
    let mut settings = workplace.settings(stack)?;
    let crypter = workplace.crypter_of_new_stack(stack, &settings).await?;
    if !workplace.make_in_store(stack, &crypter).await? {
        return Ok(false);
    }
    workplace.name_key(&mut settings, &crypter)?;
    Ok(true)
}

fn exists(workplace: &Workplace<'_>, stack: &StackName) -> Failure {
    let message = message![
        format!("stack '{}' already exists; choose it with ", workplace.shown(stack)),
        Command::new("stack select").value(workplace.shown(stack))
    ];
    Failure::stack_exists(message)
}
