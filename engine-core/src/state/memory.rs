//! Stacks in memory: for tests of programs and providers, and for simulations. Nothing outlives the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::error::{Error, Result};

use super::backend::{Backend, Holder, Lease, StoredEntry, StoredStack};
use super::name::StackName;

/// A store in memory. Clones share their content.
#[derive(Clone, Debug, Default)]
pub struct MemoryBackend {
    stacks: Arc<Mutex<BTreeMap<StackName, Stored>>>,
}

#[derive(Debug, Default)]
struct Stored {
    checkpoint: Vec<u8>,
    journal: Option<Vec<u8>>,
    aside: Vec<Vec<u8>>,
    history: Vec<StoredEntry>,
    epoch: u64,
    leased: bool,
}

impl MemoryBackend {
    /// What is stored of a stack, as a crash at this moment would leave it.
    #[must_use]
    pub fn stored(&self, stack: &StackName) -> Option<StoredStack> {
        self.stacks().get(stack).map(|stored| stored.to_stored(stack))
    }

    /// Stores a stack as a crash may have left it; it is not locked afterwards.
    pub fn restore(&self, stack: &StackName, content: StoredStack) {
        let StoredStack { checkpoint, journal, .. } = content;
        let mut stacks = self.stacks();
        let stored = stacks.entry(stack.clone()).or_default();
        stored.checkpoint = checkpoint;
        stored.journal = journal;
        stored.leased = false;
        stored.epoch += 1;
    }

    /// The journals that were set aside, oldest first.
    #[must_use]
    pub fn journals_set_aside(&self, stack: &StackName) -> Vec<Vec<u8>> {
        self.stacks().get(stack).map(|stored| stored.aside.clone()).unwrap_or_default()
    }

    fn stacks(&self) -> MutexGuard<'_, BTreeMap<StackName, Stored>> {
        self.stacks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stored {
    fn to_stored(&self, stack: &StackName) -> StoredStack {
        StoredStack {
            checkpoint: self.checkpoint.clone(),
            checkpoint_place: format!("memory://{stack}"),
            journal: self.journal.clone(),
            journal_place: format!("memory://{stack}/journal"),
        }
    }
}

fn no_stack(stack: &StackName) -> Error {
    Error::NoStack { stack: stack.stack().to_owned() }
}

#[async_trait]
impl Backend for MemoryBackend {
    fn url(&self) -> String {
        "memory://".into()
    }

    async fn list(&self) -> Result<Vec<StackName>> {
        Ok(self.stacks().keys().cloned().collect())
    }

    async fn create(&self, stack: &StackName, checkpoint: &[u8]) -> Result<()> {
        let mut stacks = self.stacks();
        if stacks.contains_key(stack) {
            return Err(Error::Configuration(format!("there is a stack '{stack}' already in memory")));
        }
        stacks.insert(stack.clone(), Stored { checkpoint: checkpoint.to_vec(), ..Stored::default() });
        Ok(())
    }

    async fn load(&self, stack: &StackName) -> Result<StoredStack> {
        self.stored(stack).ok_or_else(|| no_stack(stack))
    }

    async fn lease(&self, stack: &StackName) -> Result<Arc<dyn Lease>> {
        let mut stacks = self.stacks();
        let stored = stacks.get_mut(stack).ok_or_else(|| no_stack(stack))?;
        if stored.leased {
            return Err(Error::Locked(format!(
                "the stack '{}' is locked by another operation of this process; wait until it is done",
                stack.stack()
            )));
        }
        stored.leased = true;
        stored.epoch += 1;
        Ok(Arc::new(MemoryLease { backend: self.clone(), stack: stack.clone(), epoch: stored.epoch }))
    }

    async fn holders(&self, _stack: &StackName) -> Result<Vec<Holder>> {
        Ok(Vec::new())
    }

    async fn break_locks(&self, stack: &StackName) -> Result<Vec<Holder>> {
        if let Some(stored) = self.stacks().get_mut(stack) {
            stored.leased = false;
            stored.epoch += 1;
        }
        Ok(Vec::new())
    }

    async fn add_history(&self, stack: &StackName, at: i128, entry: &[u8]) -> Result<()> {
        let mut stacks = self.stacks();
        let stored = stacks.get_mut(stack).ok_or_else(|| no_stack(stack))?;
        let place = format!("memory://{stack}/history/{at}");
        stored.history.insert(0, StoredEntry { at, place, entry: entry.to_vec() });
        Ok(())
    }

    async fn history(&self, stack: &StackName) -> Result<Vec<StoredEntry>> {
        self.stacks().get(stack).map(|stored| stored.history.clone()).ok_or_else(|| no_stack(stack))
    }

    async fn move_history(&self, from: &StackName, to: &StackName) -> Result<()> {
        let mut stacks = self.stacks();
        let moved = stacks.get_mut(from).map(|stored| std::mem::take(&mut stored.history));
        if let (Some(history), Some(target)) = (moved, stacks.get_mut(to)) {
            target.history.extend(history);
        }
        Ok(())
    }
}

struct MemoryLease {
    backend: MemoryBackend,
    stack: StackName,
    epoch: u64,
}

impl MemoryLease {
    fn with<T>(&self, act: impl FnOnce(&mut Stored) -> T) -> Result<T> {
        match self.backend.stacks().get_mut(&self.stack) {
            Some(stored) if stored.leased && stored.epoch == self.epoch => Ok(act(stored)),
            Some(_) => Err(Error::Locked(format!(
                "the lock on the stack '{}' was lost, so nothing more is written",
                self.stack.stack()
            ))),
            None => Err(no_stack(&self.stack)),
        }
    }
}

#[async_trait]
impl Lease for MemoryLease {
    fn epoch(&self) -> u64 {
        self.epoch
    }

    async fn load(&self) -> Result<StoredStack> {
        self.with(|stored| stored.to_stored(&self.stack))
    }

    async fn append(&self, bytes: &[u8]) -> Result<()> {
        self.with(|stored| stored.journal.get_or_insert_default().extend_from_slice(bytes))
    }

    async fn cut_journal(&self, length: u64) -> Result<()> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        self.with(|stored| stored.journal.iter_mut().for_each(|journal| journal.truncate(length)))
    }

    async fn replace(&self, checkpoint: &[u8]) -> Result<()> {
        self.with(|stored| stored.checkpoint = checkpoint.to_vec())
    }

    async fn remove_journal(&self) -> Result<()> {
        self.with(|stored| stored.journal = None)
    }

    async fn set_journal_aside(&self) -> Result<String> {
        self.with(|stored| {
            stored.aside.extend(stored.journal.take());
            format!("memory://{}/journal-{}", self.stack, stored.aside.len())
        })
    }

    async fn remove_stack(&self) -> Result<()> {
        self.with(|_| ())?;
        self.backend.stacks().remove(&self.stack);
        Ok(())
    }

    async fn release(&self) -> Result<()> {
        // A lease that was lost is no longer ours to give back.
        let _ = self.with(|stored| stored.leased = false);
        Ok(())
    }
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        let _ = self.with(|stored| stored.leased = false);
    }
}
