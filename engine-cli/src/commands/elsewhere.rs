//! Verbs that maloko does not have: each is refused in a line that says why. And `org`.

use crate::arguments::OrgCommand;
use crate::context::Context;
use crate::failure::{Failure, Result};

/// The error for a verb that belongs to another tool or service.
pub(crate) fn refuse(before: &str, (verb, reason): (&str, &str)) -> Failure {
    Failure::configuration(format!("`{before}{verb}` {reason}"))
}

/// Runs `org`. The only organization is the one that the names of stacks have for Pulumi's sake.
pub(crate) fn org(context: &Context, command: &OrgCommand) -> Result<()> {
    match command {
        OrgCommand::Elsewhere(command) => Err(refuse("org ", command.reason())),
        OrgCommand::GetDefault | OrgCommand::SetDefault { .. } => {
            let user = &context.environment.identity.host;
            Err(Failure::new(format!("backends of this type \"{user}\" do not support organizations")))
        }
    }
}
