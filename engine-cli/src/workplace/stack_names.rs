//! The names of stacks: as users write them, as they are shown, and which ones belong to the project.

use maloko_core::state::StackName;

use super::Workplace;
use crate::failure::{Failure, Result};

impl Workplace<'_> {
    /// Reads the name of a stack as users write it.
    pub(crate) fn parse_stack(&self, text: &str) -> Result<StackName> {
        StackName::parse(text, &self.project.name).map_err(Failure::from)
    }

    /// Reads the name of a stack of this project.
    pub(crate) fn parse_own_stack(&self, text: &str) -> Result<StackName> {
        self.require_own(self.parse_stack(text)?)
    }

    /// Refuses a stack of another project: there is no configuration of it here, and that of this project's stack of the
    /// same name would be taken for it.
    pub(crate) fn require_own(&self, stack: StackName) -> Result<StackName> {
        if stack.project() == self.project.name {
            return Ok(stack);
        }
        Err(Failure::configuration(format!(
            "the stack '{stack}' is of the project '{}', which does not match {}: here is the project '{}', and the stack's \
             configuration would be read under another name. Run the command in the project of the stack, or name a stack \
             of this one (such as '{}')",
            stack.project(),
            self.project.place(&["name"]),
            self.project.name,
            stack.stack()
        )))
    }

    /// How a stack is shown: without the project when it is this one.
    #[must_use]
    pub(crate) fn shown(&self, stack: &StackName) -> String {
        if stack.project() == self.project.name { stack.stack().to_owned() } else { stack.to_string() }
    }
}
