//! The state of a stack: rows, the journal that keeps every change, and the places where both are stored.

pub mod backend;
pub mod checkpoint;
pub mod ledger;
pub mod local;
pub mod name;
pub mod passphrase;
pub mod secrets;
pub mod session;
pub mod surroundings;

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::row::Row;

pub use backend::{Backend, Holder, Lease, StoredStack};
pub use checkpoint::{Checkpoint, export_deployment, import_deployment};
pub use ledger::{Change, Ledger, PendingKind, PendingOperation, RowNumber};
pub use local::LocalBackend;
pub use name::{ORGANIZATION, StackName};
pub use passphrase::{PASSPHRASE_FILE_VARIABLE, PASSPHRASE_VARIABLE, Passphrase, PassphraseSource};
pub use secrets::Crypter;
pub use session::{Session, SessionOptions, StackReading, Ticket, create_stack, read_stack};
pub use surroundings::{Clock, Entropy, Surroundings};

/// The content of a checkpoint (`latest`) or of an exported deployment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// The rows, each after everything that it refers to.
    pub rows: Vec<Arc<Row>>,
    /// Operations that were begun and whose end is not known.
    pub pending: Vec<PendingOperation>,
    /// `secrets_providers` as it stands in the file.
    pub secrets_provider: Option<serde_json::Value>,
    /// Everything else in the file, kept as it was read (`manifest`, `metadata`, members that we do not know).
    pub other: serde_json::Map<String, serde_json::Value>,
}

impl Snapshot {
    /// Decrypts every sealed value, each distinct ciphertext once. `__provider` stays sealed.
    pub fn unseal(&mut self, _crypter: &Crypter) -> Result<()> {
        Err(Error::BadState("not built yet".into()))
    }

    /// The salt string of the passphrase with which the secrets were encrypted; `None` when there is no secrets
    /// provider. Another kind of provider is an error that names it.
    pub fn salt(&self) -> Result<Option<&str>> {
        Err(Error::BadState("not built yet".into()))
    }
}
