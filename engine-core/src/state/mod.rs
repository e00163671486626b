//! The state of a stack: resources, the journal that keeps every change, and the places where both are stored.

pub mod backend;
pub mod checkpoint;
#[cfg(any(test, feature = "for-tests"))]
pub mod conformance;
#[cfg(test)]
mod fixtures;
pub(crate) mod format;
pub mod history;
pub mod integrity;
mod journal;
pub mod ledger;
mod loaded;
pub mod local;
pub mod lock_file;
pub mod memory;
mod migrated;
pub mod name;
pub mod order;
pub mod pending_operation;
mod references;
mod rename;
mod seal;
pub mod secrets;
pub mod session;
pub mod session_options;
pub mod snapshot;
pub mod stack;
pub mod unresolved_create;
pub mod watched;

pub use crate::holder::Holder;
pub use backend::{
    Backend, Generation, Lease, ListedStack, MIN_GENERATIONS, StackFilter, StoredEntry, StoredStack, check_scheme,
};
pub use checkpoint::summary::Summary;
pub use checkpoint::{Checkpoint, export_deployment, import_deployment};
pub use history::HistoryEntry;
pub use journal::unfinished::UnfinishedCommand;
pub use ledger::{Change, Ledger, ResourceNumber};
pub use local::LocalBackend;
pub use memory::MemoryBackend;
pub use migrated::{resources_from_json, resources_to_json};
pub use name::{ORGANIZATION, StackName};
pub use pending_operation::{PendingKind, PendingOperation};
pub use secrets::Crypter;
pub use secrets::key_record;
pub use secrets::passphrase::{
    PASSPHRASE_FILE_VARIABLE, PASSPHRASE_VARIABLE, Passphrase, PassphraseSource, PassphraseVariables,
    passphrase_variables,
};
pub(crate) use session::unseal;
pub use session::{Durability, LockWait, Session};
pub use session_options::SessionOptions;
pub use snapshot::Snapshot;
pub(crate) use snapshot::recognise_migrated;
pub use stack::copy::{MigrationReport, migrate_stack};
pub use stack::lock_waiting::LockWaitingBackend;
pub use stack::restore::{
    GenerationContent, GenerationReading, read_generation, read_generations, restore_stack, salvage_journal,
};
pub use stack::successor::create_successor;
pub use stack::{
    StackReading, at_work, create_sealed, create_stack, has_ended, overwrite_stack, read_stack, read_stack_beside,
    read_stack_with, replace_sealed, reseal_stack,
};
pub use unresolved_create::{Attempt, UnknownOutcome, UnresolvedCreate};
pub use watched::{Passage, StoreWatch, StoreWrite, WatchedBackend};
