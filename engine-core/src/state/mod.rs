//! The state of a stack: rows, the journal that keeps every change, and the places where both are stored.

pub mod backend;
pub mod checkpoint;
#[cfg(any(test, feature = "backend-conformance"))]
pub mod conformance;
#[cfg(unix)]
mod contained;
pub mod copy;
mod derived_keys;
mod document;
pub mod files;
#[cfg(test)]
mod fixtures;
mod format;
pub mod history;
pub mod integrity;
mod journal;
mod journal_writer;
mod known_keys;
pub mod ledger;
pub mod local;
pub mod lock_file;
pub mod memory;
mod migrated;
#[cfg(unix)]
mod modes;
pub mod name;
pub mod order;
pub mod passphrase;
pub mod plan_file;
pub(crate) mod platform;
mod recovery;
mod rename;
pub mod restore;
mod run_note;
mod seal;
mod seal_difference;
pub mod secrets;
pub mod session;
pub mod snapshot;
pub mod stack;
mod successor;
pub mod surroundings;
pub mod suspect;
mod unfinished;
pub mod watched;

pub use backend::{Backend, Generation, Holder, LEAST_GENERATIONS, Lease, StoredEntry, StoredStack};
pub use checkpoint::{Checkpoint, export_deployment, import_deployment};
pub use copy::{Copied, migrate_stack};
pub use files::{FileKind, Files, LockedFile, OpenFile, OpenMode};
pub use format::MAX_DEPTH;
pub use history::HistoryEntry;
pub use known_keys::KnownKeys;
pub use ledger::{Change, Ledger, PendingKind, PendingOperation, RowNumber};
pub use local::LocalBackend;
pub use memory::MemoryBackend;
pub use migrated::{rows_from_json, rows_to_json};
pub use name::{ORGANIZATION, StackName};
pub use passphrase::{PASSPHRASE_FILE_VARIABLE, PASSPHRASE_VARIABLE, Passphrase, PassphraseSource};
pub use plan_file::{decode_plan, encode_plan, shown_value};
pub use platform::SystemFiles;
pub use restore::{GenerationContent, GenerationReading, read_generations, restore_stack, salvage_journal};
pub use secrets::Crypter;
pub use session::{Session, SessionOptions, Ticket};
pub use snapshot::Snapshot;
pub use stack::{
    StackReading, at_work, create_sealed, create_stack, overwrite_stack, read_stack, read_stack_beside,
    read_stack_with, replace_sealed, reseal_stack,
};
pub use successor::create_successor;
pub use surroundings::{Clock, Entropy, Identity, Surroundings, Worker, Workers};
pub use suspect::{Attempt, Doubt, Suspect};
pub use unfinished::Unfinished;
pub use watched::{Passage, StoreWatch, StoreWrite, WatchedBackend};
