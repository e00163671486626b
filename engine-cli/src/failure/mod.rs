//! Why a command ends with an exit code other than 0 (docs/rules 14.2).

mod why;

use std::fmt;

use maloko_core::error::Reason;
use maloko_core::holder::Holder;
use maloko_core::message;
use maloko_core::message::Message;

pub use why::Why;

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
    /// What kind of failure it is, for programs.
    pub(crate) reason: Reason,
    /// Who works on the stack, where that is the reason.
    pub(crate) holder: Option<Box<Holder>>,
}

impl Failure {
    /// A failure with an exit code and a reason.
    pub(crate) fn of(code: i32, reason: Reason, message: impl Into<Message>) -> Self {
        Self { code, message: message.into(), reason, holder: None }
    }

    /// A failure without a code of its own.
    pub(crate) fn new(message: impl Into<Message>) -> Self {
        Self::of(code::FAILURE, Reason::Other, message)
    }

    /// There is a stack of that name already.
    pub(crate) fn stack_exists(message: impl Into<Message>) -> Self {
        Self::of(code::FAILURE, Reason::StackExists, message)
    }

    /// The same, where the key of a stack's secrets is missing or wrong.
    #[must_use]
    pub(crate) fn of_key(self) -> Self {
        Self { reason: Reason::Key, ..self }
    }

    /// The user stopped it.
    pub(crate) fn cancelled(message: impl Into<Message>) -> Self {
        Self::of(code::CANCELLED, Reason::Cancelled, message)
    }

    /// Something that the user has to set right before the command can do anything.
    pub(crate) fn configuration(message: impl Into<Message>) -> Self {
        Self::of(code::CONFIGURATION, Reason::Configuration, message)
    }

    /// There is no such stack.
    pub(crate) fn no_stack(message: impl Into<Message>) -> Self {
        Self::of(code::NO_STACK, Reason::NoStack, message)
    }

    /// The message has been shown already; only the exit code is left.
    #[must_use]
    pub(crate) fn silent(code: i32) -> Self {
        Self::of(code, Reason::Other, Message::default())
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
            maloko_core::Error::InUse { .. } => code::IN_USE,
            _ => code::FAILURE,
        };
        let reason = Reason::from(&error);
        let holder = match &error {
            maloko_core::Error::InUse { holder, .. } => holder.clone(),
            _ => None,
        };
        Self { holder, ..Self::of(code, reason, error) }
    }
}

/// What a command gives back.
pub(crate) type Result<T> = std::result::Result<T, Failure>;
