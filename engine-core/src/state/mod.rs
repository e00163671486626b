//! The state of a stack: rows, the journal that keeps every change, and the places where both are stored.

pub mod ledger;
pub mod session;

use std::sync::Arc;

use crate::row::Row;

pub use session::{Session, Ticket};
pub use ledger::{Change, Ledger, PendingKind, PendingOperation, RowNumber};

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
