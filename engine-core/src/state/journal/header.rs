//! The first line of a journal.

use serde::{Deserialize, Serialize};

/// The version of the format that is written, and the newest that is read.
pub(super) const VERSION: u32 = 2;
const KIND: &str = "journal";

/// The first line: what the journal belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::state) struct Header {
    maloko: String,
    version: u32,
    /// Version of the engine that wrote it.
    pub(in crate::state) engine: String,
    /// The stack's full name.
    pub(in crate::state) stack: String,
    /// The lease's epoch.
    pub(in crate::state) epoch: u64,
    /// SHA-256 of the checkpoint that the records change.
    pub(in crate::state) base: String,
    /// When the first record was written, RFC 3339.
    pub(in crate::state) begun: String,
    /// The command that wrote it.
    pub(in crate::state) command: String,
    /// `secrets_providers` under which the records' secrets are encrypted.
    pub(in crate::state) secrets_providers: serde_json::Value,
}

impl Header {
    pub(in crate::state) fn new(stack: String, epoch: u64, base: String, secrets_providers: serde_json::Value) -> Self {
        Self {
            maloko: KIND.into(),
            version: VERSION,
            engine: env!("CARGO_PKG_VERSION").into(),
            stack,
            epoch,
            base,
            begun: String::new(),
            command: String::new(),
            secrets_providers,
        }
    }
}
