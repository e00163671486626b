//! Where stacks are kept: what every store can do.
//!
//! A store keeps, for each stack, one checkpoint (Pulumi's stack file) and, while an operation runs or after it was
//! killed, one journal. It knows nothing of their content. Writing needs a [`Lease`], which at most one process holds.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;

use super::name::StackName;

/// What a store holds of a stack.
#[derive(Clone, Debug, Default)]
pub struct StoredStack {
    /// The stack file, byte for byte.
    pub checkpoint: Vec<u8>,
    /// Where it is, for messages: a path or an address.
    pub checkpoint_place: String,
    /// The journal of an operation that runs or was killed; `None` when there is none.
    pub journal: Option<Vec<u8>>,
    /// Where the journal is or would be, for messages.
    pub journal_place: String,
}

/// Who works on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Process number.
    pub pid: u32,
    /// Login name; may be empty.
    pub user: String,
    /// Name of the machine; may be empty.
    pub host: String,
    /// Since when, RFC 3339.
    pub since: String,
    /// Is it maloko? Otherwise it is the `pulumi` command line.
    pub maloko: bool,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = if self.maloko { "maloko" } else { "pulumi" };
        let user = if self.user.is_empty() { "somebody" } else { &self.user };
        let host = if self.host.is_empty() { "an unnamed machine" } else { &self.host };
        // Nobody asks for fractions of a second.
        let since = match self.since.parse::<jiff::Timestamp>() {
            Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
            Err(_) => self.since.clone(),
        };
        write!(f, "{tool} of {user} (process {} on {host}, since {since})", self.pid)
    }
}

/// A store of stacks.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Its address as users write it, such as `file:///home/me/state`.
    fn url(&self) -> String;

    /// All stacks, sorted by name.
    async fn list(&self) -> Result<Vec<StackName>>;

    /// Makes a stack with this first checkpoint; refuses when there is one of that name.
    async fn create(&self, stack: &StackName, checkpoint: &[u8]) -> Result<()>;

    /// Reads a stack, without a lease; [`NoStack`](crate::Error::NoStack) when there is none.
    async fn load(&self, stack: &StackName) -> Result<StoredStack>;

    /// Gets the sole right to write, or [`Locked`](crate::Error::Locked) with the holder's name.
    async fn lease(&self, stack: &StackName) -> Result<Arc<dyn Lease>>;

    /// Those who work on the stack now, or left a lock behind.
    async fn holders(&self, stack: &StackName) -> Result<Vec<Holder>>;

    /// Removes the locks of others (`cancel`) and gives those who held them. A running maloko's writes are refused
    /// from then on.
    async fn break_locks(&self, stack: &StackName) -> Result<Vec<Holder>>;

    /// Keeps an entry of the stack's history, which ended `at` nanoseconds after 1970, with a copy of the checkpoint as
    /// it is now.
    async fn add_history(&self, stack: &StackName, at: i128, entry: &[u8]) -> Result<()>;

    /// The stack's history, the newest entry first.
    async fn history(&self, stack: &StackName) -> Result<Vec<StoredEntry>>;

    /// Hands a stack's history on to another name.
    async fn move_history(&self, from: &StackName, to: &StackName) -> Result<()>;
}

/// An entry of a stack's history, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEntry {
    /// When the operation ended, in nanoseconds since 1970.
    pub at: i128,
    /// Where it is, for messages.
    pub place: String,
    /// Its JSON.
    pub entry: Vec<u8>,
}

/// The right to write to one stack. Each write fails when the lease was lost in the meantime.
#[async_trait]
pub trait Lease: Send + Sync {
    /// Higher than that of any lease before.
    fn epoch(&self) -> u64;

    /// Reads the stack.
    async fn load(&self) -> Result<StoredStack>;

    /// Appends to the journal, making it first if needed. Durable when it returns. Called by one caller at a time.
    async fn append(&self, bytes: &[u8]) -> Result<()>;

    /// Drops what follows the first `length` bytes of the journal: the torn end that a crash left. Durable when it
    /// returns.
    async fn cut_journal(&self, length: u64) -> Result<()>;

    /// Replaces the checkpoint in one step and keeps the old one as its backup. Durable when it returns.
    async fn replace(&self, checkpoint: &[u8]) -> Result<()>;

    /// Removes the journal, if there is one.
    async fn remove_journal(&self) -> Result<()>;

    /// Renames the journal so that it is kept but no longer used, and gives its new place.
    async fn set_journal_aside(&self) -> Result<String>;

    /// Removes the stack; its last checkpoint stays behind as a backup.
    async fn remove_stack(&self) -> Result<()>;

    /// Gives the lease back. Without it, a dropped lease is given back as well as can be.
    async fn release(&self) -> Result<()>;
}
