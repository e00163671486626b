//! Why a command ends with an exit code other than 0 (docs/rules 14.2).

use std::fmt;

use maloko_core::message;
use maloko_core::message::Message;

/// Exit codes with a meaning of their own.
pub(crate) mod code {
    /// Something failed.
    pub(crate) const FAILURE: i32 = 1;
    /// Wrong arguments, files of the project, or a confirmation that is missing.
    pub(crate) const CONFIGURATION: i32 = 2;
    /// There is no stack of that name.
    pub(crate) const NO_STACK: i32 = 6;
    /// `--expect-no-changes`, and there were some.
    pub(crate) const UNEXPECTED_CHANGES: i32 = 7;
    /// Somebody else works on the stack, and did not give it back in time.
    pub(crate) const IN_USE: i32 = 10;
    /// The user stopped it.
    pub(crate) const CANCELLED: i32 = 8;
    /// An error of maloko itself.
    pub(crate) const INTERNAL: i32 = 255;
}

/// The end of a command that did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) code: i32,
    /// What went wrong, where, and what to do; empty when it has been said already.
    pub(crate) message: Message,
}

impl Failure {
    /// A failure without a code of its own.
    pub(crate) fn new(message: impl Into<Message>) -> Self {
        Self { code: code::FAILURE, message: message.into() }
    }

    /// Something that the user has to set right before the command can do anything.
    pub(crate) fn configuration(message: impl Into<Message>) -> Self {
        Self { code: code::CONFIGURATION, message: message.into() }
    }

    /// There is no such stack.
    pub(crate) fn no_stack(message: impl Into<Message>) -> Self {
        Self { code: code::NO_STACK, message: message.into() }
    }

    /// The message has been shown already; only the exit code is left.
    #[must_use]
    pub(crate) fn silent(code: i32) -> Self {
        Self { code, message: Message::default() }
    }

    /// The same, about a stack that the command does not name by itself. `shown` is the stack's name.
    #[must_use]
    pub(crate) fn of_stack(self, shown: &str) -> Self {
        Self { message: message![format!("stack '{shown}': "), self.message], ..self }
    }

    /// A file could not be used.
    pub(crate) fn io(context: impl fmt::Display, error: &std::io::Error) -> Self {
        let advice = match error.kind() {
            std::io::ErrorKind::PermissionDenied => "; check its owner and its permissions",
            std::io::ErrorKind::StorageFull => "; make room on the disk and try again",
            _ => "",
        };
        Self::new(format!("{context}: {error}{advice}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<maloko_core::Error> for Failure {
    fn from(error: maloko_core::Error) -> Self {
        let code = match &error {
            maloko_core::Error::NoStack { .. } => code::NO_STACK,
            maloko_core::Error::Configuration(_) => code::CONFIGURATION,
            maloko_core::Error::InUse(_) => code::IN_USE,
            _ => code::FAILURE,
        };
        Self { code, message: error.into() }
    }
}

/// What a command gives back.
pub(crate) type Result<T> = std::result::Result<T, Failure>;
