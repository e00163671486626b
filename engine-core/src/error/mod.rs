//! Errors that end a command, as the user meets them.

mod reason;

use crate::holder::Holder;
use crate::message::Message;

pub use reason::Reason;

/// What went wrong; each message names the thing at fault and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or place could not be used.
    #[error("{context}: {source}")]
    Io {
        /// What was attempted, with the path.
        context: String,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A stack file, journal or exported deployment is not usable.
    #[error("{0}")]
    BadState(Message),
    /// The stack does not exist.
    #[error("no stack named '{stack}' found")]
    NoStack {
        /// The name that was asked for.
        stack: String,
    },
    /// The program refers to a stack that does not exist.
    #[error("{message}")]
    Needs {
        /// Which one: `project/stack`.
        stack: String,
        /// What is wrong, and what to do.
        message: Message,
    },
    /// Someone else is working on the stack now.
    #[error("{message}")]
    InUse {
        /// Who it is, and what to do.
        message: Message,
        /// Who it is, where that is known.
        holder: Option<Box<Holder>>,
    },
    /// The sole right to work on the stack was lost, or cannot be had.
    #[error("{0}")]
    Locked(Message),
    /// The passphrase is missing or wrong, or a secret cannot be read.
    #[error("{0}")]
    Secrets(Message),
    /// A setting, argument or file of the project is wrong.
    #[error("{0}")]
    Configuration(Message),
}

impl From<&Error> for Message {
    fn from(error: &Error) -> Self {
        match error {
            Error::BadState(message)
            | Error::Needs { message, .. }
            | Error::InUse { message, .. }
            | Error::Locked(message)
            | Error::Secrets(message)
            | Error::Configuration(message) => message.clone(),
            Error::Io { .. } | Error::NoStack { .. } => error.to_string().into(),
        }
    }
}

impl From<Error> for Message {
    fn from(error: Error) -> Self {
        Self::from(&error)
    }
}

/// A result with an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
