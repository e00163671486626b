//! Why a command did not do what was asked, for programs that go on by it: those that try again, and those that tell somebody.

use super::Error;

/// The kinds of reasons. What is wrong stands in the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Somebody else works on the stack.
    Locked,
    /// The sole right to work on the stack was lost while the run went on: taken over, or by `cancel`.
    LeaseLost,
    /// The backend cannot be reached, or cannot be read or written.
    Backend,
    /// A method of a provider failed.
    Provider,
    /// The program refers to a stack that does not exist.
    Needs,
    /// What the program gives a provider was refused by its check.
    Inputs,
    /// The program failed, or asks for what cannot be.
    Program,
    /// A mandatory policy was violated, or a policy pack failed.
    Policy,
    /// The key of the stack's secrets is missing or wrong, or a secret cannot be read.
    Key,
    /// The state or the journal cannot be used as it is.
    Damaged,
    /// An argument, a setting or a file of the project is wrong.
    Configuration,
    /// There is no such stack.
    NoStack,
    /// There is a stack of that name already.
    StackExists,
    /// The run does not do what its plan says.
    Plan,
    /// A protected resource would be deleted.
    Protected,
    /// There were changes, and none were expected.
    UnexpectedChanges,
    /// It was stopped.
    Cancelled,
    /// Anything else.
    #[default]
    Other,
}

impl From<&Error> for Reason {
    fn from(error: &Error) -> Self {
        match error {
            Error::Io { .. } => Self::Backend,
            Error::BadState(_) => Self::Damaged,
            Error::NoStack { .. } => Self::NoStack,
            Error::InUse { .. } => Self::Locked,
            Error::Locked(_) => Self::LeaseLost,
            Error::Secrets(_) => Self::Key,
            Error::Needs { .. } => Self::Needs,
            Error::Configuration(_) => Self::Configuration,
        }
    }
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Locked,
        Self::LeaseLost,
        Self::Backend,
        Self::Provider,
        Self::Needs,
        Self::Inputs,
        Self::Program,
        Self::Policy,
        Self::Key,
        Self::Damaged,
        Self::Configuration,
        Self::NoStack,
        Self::StackExists,
        Self::Plan,
        Self::Protected,
        Self::UnexpectedChanges,
        Self::Cancelled,
        Self::Other,
    ];

    /// The word for it, as the automation APIs have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::LeaseLost => "lease-lost",
            Self::Backend => "backend",
            Self::Provider => "provider",
            Self::Needs => "needs",
            Self::Inputs => "inputs",
            Self::Program => "program",
            Self::Policy => "policy",
            Self::Key => "key",
            Self::Damaged => "damaged",
            Self::Configuration => "configuration",
            Self::NoStack => "no-stack",
            Self::StackExists => "stack-exists",
            Self::Plan => "plan",
            Self::Protected => "protected",
            Self::UnexpectedChanges => "unexpected-changes",
            Self::Cancelled => "cancelled",
            Self::Other => "other",
        }
    }
}
