//! Why a plugin cannot be installed, and whether something else is worth a try.

use std::fmt;

/// See the module's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallError {
    message: String,
    remedy: Remedy,
}

/// What may still help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The same request once more: the network or the server failed.
    Again,
    /// Another source: this one does not have the archive, or does not give it.
    Elsewhere,
    /// Nothing.
    None,
}

impl InstallError {
    /// Nothing but the user can help.
    pub(crate) fn last(message: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: Remedy::None }
    }

    /// The source does not have it.
    pub(crate) fn elsewhere(message: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: Remedy::Elsewhere }
    }

    /// It may work the next time.
    pub(crate) fn again(message: impl Into<String>) -> Self {
        Self { message: message.into(), remedy: Remedy::Again }
    }

    /// A file could not be used.
    pub(crate) fn io(what: impl fmt::Display, error: &std::io::Error) -> Self {
        Self::last(format!("{what}: {error}"))
    }

    pub(crate) fn remedy(&self) -> Remedy {
        self.remedy
    }
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for InstallError {}
