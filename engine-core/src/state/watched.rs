//! A store whose writes somebody watches, counts, refuses or cuts short: for the testing kit, simulations and benches.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::{Error, Result};

use super::backend::{Backend, Generation, Lease, ListedStack, StoredEntry, StoredStack, Wanted};
use super::name::StackName;
use crate::holder::Holder;

/// Something that is to change in a store.
#[derive(Clone, Copy, Debug)]
pub enum StoreWrite<'a> {
    /// A stack is to be made.
    Create,
    /// A lease is to be taken.
    Lease,
    /// The locks of others are to be removed.
    BreakLocks,
    /// These bytes are to be appended to the journal.
    Append(&'a [u8]),
    /// The torn end of the journal is to be dropped.
    CutJournal,
    /// This is to become the checkpoint.
    Replace(&'a [u8]),
    /// This is to become the seal.
    WriteSeal(&'a [u8]),
    /// These are to become the tags.
    WriteTags(&'a [u8]),
    /// The journal is to be removed.
    RemoveJournal,
    /// The journal is to be renamed.
    SetJournalAside,
    /// The stack is to be removed.
    RemoveStack,
    /// The lease is to be given back.
    Release,
}

impl StoreWrite<'_> {
    /// What is done, for messages.
    #[must_use]
    pub fn what(&self) -> &'static str {
        match self {
            StoreWrite::Create => "make the stack",
            StoreWrite::Lease => "take the lease",
            StoreWrite::BreakLocks => "break the locks",
            StoreWrite::Append(_) => "append to the journal",
            StoreWrite::CutJournal => "cut the journal",
            StoreWrite::Replace(_) => "replace the checkpoint",
            StoreWrite::WriteSeal(_) => "write the seal",
            StoreWrite::WriteTags(_) => "write the tags",
            StoreWrite::RemoveJournal => "remove the journal",
            StoreWrite::SetJournalAside => "set the journal aside",
            StoreWrite::RemoveStack => "remove the stack",
            StoreWrite::Release => "give the lease back",
        }
    }
}

/// What becomes of a write.
#[derive(Debug)]
pub enum Passage {
    /// It is made.
    Whole,
    /// It is made, and this error is what the writer hears.
    WholeBut(Error),
    /// Of an append only so many bytes arrive, of anything else nothing, and the writer hears of this error.
    Part(usize, Error),
    /// Nothing is done, and the writer hears of no error.
    Nothing,
}

/// Who watches.
#[async_trait]
pub trait StoreWatch: Send + Sync {
    /// A write is about to be made. An error is what the writer hears, and nothing is done.
    async fn before(&self, stack: &StackName, write: StoreWrite<'_>) -> Result<Passage>;

    /// A write was made.
    fn made(&self, stack: &StackName, write: StoreWrite<'_>);
}

/// A store with a watcher. Reading is not watched; nor is the history, which no run depends on.
#[derive(Clone)]
pub struct WatchedBackend {
    inner: Arc<dyn Backend>,
    watch: Arc<dyn StoreWatch>,
}

impl WatchedBackend {
    /// A store that is watched.
    #[must_use]
    pub fn new(inner: Arc<dyn Backend>, watch: Arc<dyn StoreWatch>) -> Self {
        Self { inner, watch }
    }
}

/// Does a write that cannot be done in part.
async fn pass<T: Default>(
    watch: &dyn StoreWatch,
    stack: &StackName,
    write: StoreWrite<'_>,
    done: impl Future<Output = Result<T>> + Send,
) -> Result<T> {
    match watch.before(stack, write).await? {
        Passage::Whole => {
            let made = done.await?;
            watch.made(stack, write);
            Ok(made)
        }
        Passage::WholeBut(error) => done.await.and(Err(error)),
        Passage::Part(_, error) => Err(error),
        Passage::Nothing => Ok(T::default()),
    }
}

#[async_trait]
impl Backend for WatchedBackend {
    fn url(&self) -> String {
        self.inner.url()
    }

    async fn list(&self) -> Result<Vec<StackName>> {
        self.inner.list().await
    }

    async fn survey(&self, wanted: &Wanted) -> Result<Vec<ListedStack>> {
        self.inner.survey(wanted).await
    }

    async fn create(&self, stack: &StackName, checkpoint: &[u8]) -> Result<()> {
        pass(&*self.watch, stack, StoreWrite::Create, self.inner.create(stack, checkpoint)).await
    }

    async fn load(&self, stack: &StackName) -> Result<StoredStack> {
        self.inner.load(stack).await
    }

    async fn lease(&self, stack: &StackName, operation: &str) -> Result<Arc<dyn Lease>> {
        let leased = async { self.inner.lease(stack, operation).await.map(Some) };
        let inner = pass(&*self.watch, stack, StoreWrite::Lease, leased).await?;
        let inner = inner.ok_or_else(|| Error::Locked("the lease was not taken, as its watcher wanted".into()))?;
        Ok(Arc::new(WatchedLease { inner, stack: stack.clone(), watch: Arc::clone(&self.watch) }))
    }

    async fn holders(&self, stack: &StackName) -> Result<Vec<Holder>> {
        self.inner.holders(stack).await
    }

    async fn break_locks(&self, stack: &StackName) -> Result<Vec<Holder>> {
        pass(&*self.watch, stack, StoreWrite::BreakLocks, self.inner.break_locks(stack)).await
    }

    async fn generations(&self, stack: &StackName) -> Result<Vec<Generation>> {
        self.inner.generations(stack).await
    }

    async fn load_generation(&self, stack: &StackName, number: u64) -> Result<Vec<u8>> {
        self.inner.load_generation(stack, number).await
    }

    async fn add_history(&self, stack: &StackName, at: i128, entry: &[u8], keep: usize) -> Result<()> {
        self.inner.add_history(stack, at, entry, keep).await
    }

    async fn adopt_history(&self, stack: &StackName, entries: &[StoredEntry]) -> Result<()> {
        self.inner.adopt_history(stack, entries).await
    }

    async fn history(&self, stack: &StackName, newest: usize) -> Result<Vec<StoredEntry>> {
        self.inner.history(stack, newest).await
    }

    async fn move_history(&self, from: &StackName, to: &StackName) -> Result<()> {
        self.inner.move_history(from, to).await
    }

    async fn tags(&self, stack: &StackName) -> Result<Option<Vec<u8>>> {
        self.inner.tags(stack).await
    }
}

struct WatchedLease {
    inner: Arc<dyn Lease>,
    stack: StackName,
    watch: Arc<dyn StoreWatch>,
}

impl WatchedLease {
    async fn pass<T: Default>(&self, write: StoreWrite<'_>, done: impl Future<Output = Result<T>> + Send) -> Result<T> {
        pass(&*self.watch, &self.stack, write, done).await
    }
}

#[async_trait]
impl Lease for WatchedLease {
    fn epoch(&self) -> u64 {
        self.inner.epoch()
    }

    async fn load(&self) -> Result<StoredStack> {
        self.inner.load().await
    }

    async fn reserve(&self, bytes: u64) -> Result<()> {
        self.inner.reserve(bytes).await
    }

    async fn append(&self, bytes: &[u8]) -> Result<()> {
        let write = StoreWrite::Append(bytes);
        match self.watch.before(&self.stack, write).await? {
            Passage::Whole => self.inner.append(bytes).await?,
            Passage::WholeBut(error) => return self.inner.append(bytes).await.and(Err(error)),
            Passage::Part(arrived, error) => {
                return self.inner.append(&bytes[..arrived.min(bytes.len())]).await.and(Err(error));
            }
            Passage::Nothing => return Ok(()),
        }
        self.watch.made(&self.stack, write);
        Ok(())
    }

    async fn cut_journal(&self, length: u64) -> Result<()> {
        self.pass(StoreWrite::CutJournal, self.inner.cut_journal(length)).await
    }

    async fn replace(&self, checkpoint: &[u8], keep: usize) -> Result<()> {
        self.pass(StoreWrite::Replace(checkpoint), self.inner.replace(checkpoint, keep)).await
    }

    async fn write_seal(&self, seal: &[u8]) -> Result<()> {
        self.pass(StoreWrite::WriteSeal(seal), self.inner.write_seal(seal)).await
    }

    async fn write_tags(&self, tags: &[u8]) -> Result<()> {
        self.pass(StoreWrite::WriteTags(tags), self.inner.write_tags(tags)).await
    }

    async fn remove_journal(&self) -> Result<()> {
        self.pass(StoreWrite::RemoveJournal, self.inner.remove_journal()).await
    }

    async fn set_journal_aside(&self) -> Result<String> {
        self.pass(StoreWrite::SetJournalAside, self.inner.set_journal_aside()).await
    }

    async fn remove_stack(&self) -> Result<()> {
        self.pass(StoreWrite::RemoveStack, self.inner.remove_stack()).await
    }

    async fn release(&self) -> Result<()> {
        self.pass(StoreWrite::Release, self.inner.release()).await
    }
}
