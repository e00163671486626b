//! The state of a stack: rows, the journal that keeps every change, and the places where both are stored.

pub mod backend;
pub mod checkpoint;
mod derived_keys;
mod document;
#[cfg(test)]
mod fixtures;
mod format;
pub mod history;
pub mod integrity;
mod journal;
mod journal_writer;
pub mod ledger;
pub mod local;
pub mod memory;
mod migrated;
pub mod name;
pub mod passphrase;
pub mod plan_file;
mod platform;
mod recovery;
mod rename;
pub mod secrets;
pub mod session;
pub mod snapshot;
pub mod stack;
pub mod surroundings;

pub use backend::{Backend, Holder, Lease, StoredEntry, StoredStack};
pub use checkpoint::{Checkpoint, export_deployment, import_deployment};
pub use format::MAX_DEPTH;
pub use history::HistoryEntry;
pub use ledger::{Change, Ledger, PendingKind, PendingOperation, RowNumber};
pub use local::LocalBackend;
pub use memory::MemoryBackend;
pub use migrated::{rows_from_json, rows_to_json};
pub use name::{ORGANIZATION, StackName};
pub use passphrase::{PASSPHRASE_FILE_VARIABLE, PASSPHRASE_VARIABLE, Passphrase, PassphraseSource};
pub use plan_file::{decode_plan, encode_plan, shown_value};
pub use secrets::Crypter;
pub use session::{Session, SessionOptions, Ticket};
pub use snapshot::Snapshot;
pub use stack::{StackReading, create_stack, overwrite_stack, read_stack};
pub use surroundings::{Clock, Entropy, Surroundings};
