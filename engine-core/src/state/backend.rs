//! Where stacks are kept: what every store can do.
//!
//! A store keeps, for each stack, one checkpoint (Pulumi's stack file) and, while an operation runs or after it was
//! killed, one journal. It knows nothing of their content, save that it keeps a [`Summary`] of what it writes. Writing needs
//! a [`Lease`], which at most one process holds.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::message;
use crate::message::{Command, Message};

use super::checkpoint::summary::Summary;
use super::name::StackName;
use crate::holder::Holder;

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
    /// What [`Lease::write_seal`] wrote last; `None` when it never did.
    pub seal: Option<Vec<u8>>,
}

/// The number of former checkpoints that every store keeps at least.
pub const MIN_GENERATIONS: usize = 3;

/// A former checkpoint that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generation {
    /// Which one it is: each has a higher number than those before.
    pub number: u64,
    /// Where it is, for messages.
    pub place: String,
    /// Is it what was written last, of which the stack's checkpoint is no copy any more? Only a store that keeps a copy
    /// of the present checkpoint has one.
    pub is_last: bool,
}

/// Which stacks a list is of, and what it has to tell of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackFilter {
    /// Those of this project; `None`: of all.
    pub project: Option<String>,
    /// Those whose short name begins with this.
    pub prefix: String,
    /// Are their tags to be read?
    pub tags: bool,
}

impl StackFilter {
    /// Just this stack, and those whose names begin with its own.
    #[must_use]
    pub fn named(stack: &StackName) -> Self {
        Self { project: Some(stack.project().to_owned()), prefix: stack.stack().to_owned(), tags: false }
    }

    /// Is this stack one of them?
    #[must_use]
    pub fn has(&self, stack: &StackName) -> bool {
        self.has_project(stack.project()) && stack.stack().starts_with(&self.prefix)
    }

    /// Is this project one whose stacks are listed?
    #[must_use]
    pub fn has_project(&self, project: &str) -> bool {
        self.project.as_ref().is_none_or(|wanted| wanted == project)
    }
}

/// A stack, and what a store knows of it without reading its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedStack {
    /// Its name.
    pub name: StackName,
    /// What its checkpoint holds, as of the checkpoint that is there now. `None` where that is not known, and where a
    /// journal may stand beside it: then the state has to be read.
    pub summary: Option<Summary>,
    /// May somebody hold it? [`Backend::holders`] says who.
    pub locked: bool,
    /// Its tags, as [`Backend::tags`] gives them, where they were asked for.
    pub tags: Option<Vec<u8>>,
}

/// A store of stacks.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Its address as users write it, such as `file:///home/me/state`.
    fn url(&self) -> String;

    /// All stacks, sorted by name.
    async fn list(&self) -> Result<Vec<StackName>>;

    /// Those stacks that are wanted, sorted by name, with what is known of each without reading its state: for lists of
    /// thousands.
    async fn survey(&self, wanted: &StackFilter) -> Result<Vec<ListedStack>>;

    /// Makes a stack with this first checkpoint; refuses when there is one of that name.
    async fn create(&self, stack: &StackName, checkpoint: &[u8]) -> Result<()>;

    /// Reads a stack, without a lease; [`NoStack`](crate::Error::NoStack) when there is none.
    async fn load(&self, stack: &StackName) -> Result<StoredStack>;

    /// Gets the sole right to write, or [`InUse`](crate::Error::InUse) with the holder's name. `operation` is the
    /// command that wants it, as others are told.
    async fn lease(&self, stack: &StackName, operation: &str) -> Result<Arc<dyn Lease>>;

    /// Those who work on the stack now, or left a lock behind.
    async fn holders(&self, stack: &StackName) -> Result<Vec<Holder>>;

    /// Removes the locks of others (`cancel`) and gives those who held them. A running maloko's writes are refused
    /// from then on.
    async fn break_locks(&self, stack: &StackName) -> Result<Vec<Holder>>;

    /// The former checkpoints that are kept, the newest first. Also of a stack whose checkpoint is gone. What was written
    /// last is one of them where the checkpoint is something else, or gone, and the store has a copy.
    async fn generations(&self, stack: &StackName) -> Result<Vec<Generation>>;

    /// Reads a former checkpoint; [`BadState`](crate::Error::BadState) when it is not kept (any more).
    async fn load_generation(&self, stack: &StackName, number: u64) -> Result<Vec<u8>>;

    /// Keeps an entry of the stack's history, which ended `at` nanoseconds after 1970, with a copy of the checkpoint as
    /// it is now where the store's layout has one. Of the entries, the newest `keep` stay (0: all).
    async fn add_history(&self, stack: &StackName, at: i128, entry: &[u8], keep: usize) -> Result<()>;

    /// Takes over the entries of another store as they are. Copies of checkpoints are left out, because the entries do not say
    /// which checkpoint belongs to them. Entries that are there already are not doubled.
    async fn adopt_history(&self, stack: &StackName, entries: &[StoredEntry]) -> Result<()>;

    /// The newest entries of the stack's history (0: all), the newest first.
    async fn history(&self, stack: &StackName, newest: usize) -> Result<Vec<StoredEntry>>;

    /// Hands a stack's history on to another name.
    async fn move_history(&self, from: &StackName, to: &StackName) -> Result<()>;

    /// The stack's tags, as [`Lease::write_tags`] wrote them last; `None` when it never did.
    async fn tags(&self, stack: &StackName) -> Result<Option<Vec<u8>>>;
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

    /// Sees to it that so many more bytes can be appended to the journal, also if the store is full by then. Stores that
    /// have no such limit, or cannot know it, have nothing to do.
    async fn reserve(&self, bytes: u64) -> Result<()>;

    /// Appends to the journal, making it first if needed. Durable when it returns. Called by one caller at a time.
    async fn append(&self, bytes: &[u8]) -> Result<()>;

    /// Drops what follows the first `length` bytes of the journal: the torn end that a crash left. Durable when it
    /// returns.
    async fn cut_journal(&self, length: u64) -> Result<()>;

    /// Replaces the checkpoint in one step, and keeps the one before as the newest of at most `keep` generations (at
    /// least [`MIN_GENERATIONS`]). Durable when it returns.
    async fn replace(&self, checkpoint: &[u8], keep: usize) -> Result<()>;

    /// Writes the seal that stands beside the checkpoint, in place of the one before. Durable when it returns.
    async fn write_seal(&self, seal: &[u8]) -> Result<()>;

    /// Writes the stack's tags, in place of those before. They go with the stack. Durable when it returns.
    async fn write_tags(&self, tags: &[u8]) -> Result<()>;

    /// Removes the journal, if there is one.
    async fn remove_journal(&self) -> Result<()>;

    /// Renames the journal so that it is kept but no longer used, and gives its new place.
    async fn set_journal_aside(&self) -> Result<String>;

    /// Removes the stack; its last checkpoint stays behind as a backup.
    async fn remove_stack(&self) -> Result<()>;

    /// Gives the lease back. Without it, a dropped lease is given back as well as can be.
    async fn release(&self) -> Result<()>;
}

/// The error for a former checkpoint that is asked for and not there.
pub(crate) fn no_generation(place: &str) -> Error {
    Error::BadState(format!("there is no former state {place}; it may be older than those that are kept").into())
}

/// The kinds of addresses, as errors list them.
const KINDS: &str = "file://DIR, s3://BUCKET, gs://BUCKET, azblob://CONTAINER or postgres://USER@HOST/DATABASE";

/// Is it the address of a backend, of a kind that is built?
///
/// # Errors
///
/// It is not; the error names the kinds that are.
pub fn check_scheme(url: &str) -> std::result::Result<(), Message> {
    let Some((scheme, _)) = url.split_once("://") else {
        let problem =
            format!("'{url}' is not the address of a backend: write {KINDS} (file://~ is the home directory)");
        return Err(problem.into());
    };
    match scheme {
        "file" | "s3" | "gs" | "azblob" | "postgres" | "postgresql" => Ok(()),
        "http" | "https" => Err(message![
            format!(
                "'{url}': maloko does not talk to the Pulumi service; use {KINDS}, and move the stack with `pulumi \
                 stack export` and "
            ),
            Command::new("stack import")
        ]),
        _ => Err(format!("'{url}': there is no backend of the kind '{scheme}'; use {KINDS}").into()),
    }
}
