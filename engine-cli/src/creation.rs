//! Making a stack with its settings file, where there is none of that name.

use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::StackName;

use crate::backend::{confirm_new_directory, guard_first_stack, make_project_directory};
use crate::failure::{Failure, Result};
use crate::workplace::Workplace;

/// Makes an empty stack with a key for its secrets.
pub(crate) async fn create(workplace: &Workplace<'_>, stack: &StackName) -> Result<()> {
    if workplace.has(stack).await? {
        return Err(exists(workplace, stack));
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
        return Err(exists(workplace, stack));
    }
    workplace.name_key(&mut settings, &crypter)
}

fn exists(workplace: &Workplace<'_>, stack: &StackName) -> Failure {
    let message = message![
        format!("stack '{}' already exists; choose it with ", workplace.shown(stack)),
        Command::new("stack select").value(workplace.shown(stack))
    ];
    Failure::stack_exists(message)
}
