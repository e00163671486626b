//! Stacks in memory: for tests of programs and providers, and for simulations. Nothing outlives the process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::error::{Error, Result};

use super::backend::{
    Backend, Generation, Lease, ListedStack, MIN_GENERATIONS, StackFilter, StoredEntry, StoredStack, no_generation,
};
use super::checkpoint::summary::Summary;
use super::lock_file;
use super::name::StackName;
use crate::environment::Environment;
use crate::holder::Holder;

/// A store in memory. Clones share their content.
#[derive(Clone, Debug)]
pub struct MemoryBackend {
    content: Arc<Mutex<Content>>,
    environment: Environment,
}

#[derive(Debug, Default)]
struct Content {
    stacks: BTreeMap<StackName, MemoryStack>,
    /// That of the last lease, of whichever stack.
    epoch: u64,
}

#[derive(Debug, Default)]
struct MemoryStack {
    checkpoint: Vec<u8>,
    journal: Option<Vec<u8>>,
    seal: Option<Vec<u8>>,
    tags: Option<Vec<u8>>,
    /// By number, the oldest first.
    generations: BTreeMap<u64, Vec<u8>>,
    aside: Vec<Vec<u8>>,
    history: Vec<StoredEntry>,
    /// That of the last lease.
    epoch: u64,
    holder: Option<Holder>,
}

impl Default for MemoryBackend {
    fn default() -> Self {
        Self::new(Environment::system())
    }
}

impl MemoryBackend {
    /// An empty store of this machine, which tells who holds a lease and since when.
    #[must_use]
    pub fn new(environment: Environment) -> Self {
        Self { content: Arc::default(), environment }
    }

    /// What is stored of a stack, as a crash at this moment would leave it.
    #[must_use]
    pub fn stored(&self, stack: &StackName) -> Option<StoredStack> {
        self.content().stacks.get(stack).map(|stored| stored.to_stored(stack))
    }

    /// Stores a stack as a crash may have left it; it is not locked afterwards.
    pub fn restore(&self, stack: &StackName, content: StoredStack) {
        let StoredStack { checkpoint, journal, seal, .. } = content;
        let mut content = self.content();
        let stored = content.stacks.entry(stack.clone()).or_default();
        stored.checkpoint = checkpoint;
        stored.journal = journal;
        stored.seal = seal;
        stored.holder = None;
    }

    /// The journals that were set aside, oldest first.
    #[must_use]
    pub fn journals_set_aside(&self, stack: &StackName) -> Vec<Vec<u8>> {
        self.content().stacks.get(stack).map(|stored| stored.aside.clone()).unwrap_or_default()
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryStack {
    fn to_stored(&self, stack: &StackName) -> StoredStack {
        StoredStack {
            checkpoint: self.checkpoint.clone(),
            checkpoint_place: format!("memory://{stack}"),
            journal: self.journal.clone(),
            journal_place: format!("memory://{stack}/journal"),
            seal: self.seal.clone(),
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
        Ok(self.content().stacks.keys().cloned().collect())
    }

    async fn survey(&self, wanted: &StackFilter) -> Result<Vec<ListedStack>> {
        let content = self.content();
        let found = content.stacks.iter().filter(|(name, _)| wanted.has(name));
        let listed = found.map(|(name, stored)| ListedStack {
            name: name.clone(),
            summary: if stored.journal.is_none() { Summary::of(&stored.checkpoint) } else { None },
            locked: stored.holder.is_some(),
            tags: stored.tags.clone().filter(|_| wanted.tags),
        });
        Ok(listed.collect())
    }

    async fn create(&self, stack: &StackName, checkpoint: &[u8]) -> Result<()> {
        let stacks = &mut self.content().stacks;
        if stacks.contains_key(stack) {
            return Err(Error::Configuration(format!("there is a stack '{stack}' already in memory").into()));
        }
        stacks.insert(stack.clone(), MemoryStack { checkpoint: checkpoint.to_vec(), ..MemoryStack::default() });
        Ok(())
    }

    async fn load(&self, stack: &StackName) -> Result<StoredStack> {
        self.stored(stack).ok_or_else(|| no_stack(stack))
    }

    async fn lease(&self, stack: &StackName, operation: &str) -> Result<Arc<dyn Lease>> {
        let mut content = self.content();
        let epoch = content.epoch + 1;
        let stored = content.stacks.get_mut(stack).ok_or_else(|| no_stack(stack))?;
        if let Some(holder) = &stored.holder {
            return Err(lock_file::locked(stack, &[holder], ""));
        }
        stored.holder = Some(self.environment.as_holder(operation));
        stored.epoch = epoch;
        content.epoch = epoch;
        Ok(Arc::new(MemoryLease { backend: self.clone(), stack: stack.clone(), epoch }))
    }

    async fn holders(&self, stack: &StackName) -> Result<Vec<Holder>> {
        Ok(self.content().stacks.get(stack).and_then(|stored| stored.holder.clone()).into_iter().collect())
    }

    async fn break_locks(&self, stack: &StackName) -> Result<Vec<Holder>> {
        Ok(self.content().stacks.get_mut(stack).and_then(|stored| stored.holder.take()).into_iter().collect())
    }

    async fn generations(&self, stack: &StackName) -> Result<Vec<Generation>> {
        let stacks = &self.content().stacks;
        let numbers = stacks.get(stack).into_iter().flat_map(|stored| stored.generations.keys().rev());
        Ok(numbers
            .map(|number| Generation { number: *number, place: generation_place(stack, *number), is_last: false })
            .collect())
    }

    async fn load_generation(&self, stack: &StackName, number: u64) -> Result<Vec<u8>> {
        let stacks = &self.content().stacks;
        let kept = stacks.get(stack).and_then(|stored| stored.generations.get(&number));
        kept.cloned().ok_or_else(|| no_generation(&generation_place(stack, number)))
    }

    async fn add_history(&self, stack: &StackName, at: i128, entry: &[u8], keep: usize) -> Result<()> {
        let place = format!("memory://{stack}/history/{at}");
        self.adopt_history(stack, &[StoredEntry { at, place, entry: entry.to_vec() }]).await?;
        if keep > 0
            && let Some(stored) = self.content().stacks.get_mut(stack)
        {
            stored.history.truncate(keep);
        }
        Ok(())
    }

    async fn adopt_history(&self, stack: &StackName, entries: &[StoredEntry]) -> Result<()> {
        let mut content = self.content();
        let history = &mut content.stacks.get_mut(stack).ok_or_else(|| no_stack(stack))?.history;
        for entry in entries {
            if !history.iter().any(|other| other.at == entry.at && other.entry == entry.entry) {
                history.push(entry.clone());
            }
        }
        history.sort_by_key(|entry| std::cmp::Reverse(entry.at));
        Ok(())
    }

    async fn history(&self, stack: &StackName, newest: usize) -> Result<Vec<StoredEntry>> {
        let content = self.content();
        let history = &content.stacks.get(stack).ok_or_else(|| no_stack(stack))?.history;
        let number = if newest == 0 { history.len() } else { newest.min(history.len()) };
        Ok(history[..number].to_vec())
    }

    async fn move_history(&self, from: &StackName, to: &StackName) -> Result<()> {
        let stacks = &mut self.content().stacks;
        let moved = stacks.get_mut(from).map(|stored| std::mem::take(&mut stored.history));
        if let (Some(history), Some(target)) = (moved, stacks.get_mut(to)) {
            target.history.extend(history);
        }
        Ok(())
    }

    async fn tags(&self, stack: &StackName) -> Result<Option<Vec<u8>>> {
        self.content().stacks.get(stack).map(|stored| stored.tags.clone()).ok_or_else(|| no_stack(stack))
    }
}

fn generation_place(stack: &StackName, number: u64) -> String {
    format!("memory://{stack}/generations/{number}")
}

struct MemoryLease {
    backend: MemoryBackend,
    stack: StackName,
    epoch: u64,
}

impl MemoryLease {
    fn with<T>(&self, act: impl FnOnce(&mut MemoryStack) -> T) -> Result<T> {
        match self.backend.content().stacks.get_mut(&self.stack) {
            Some(stored) if stored.holder.is_some() && stored.epoch == self.epoch => Ok(act(stored)),
            Some(_) => Err(Error::Locked(
                format!("the lock on the stack '{}' was lost, so nothing more is written", self.stack.stack()).into(),
            )),
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

    async fn reserve(&self, _bytes: u64) -> Result<()> {
        Ok(())
    }

    async fn append(&self, bytes: &[u8]) -> Result<()> {
        self.with(|stored| stored.journal.get_or_insert_default().extend_from_slice(bytes))
    }

    async fn cut_journal(&self, length: u64) -> Result<()> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        self.with(|stored| stored.journal.iter_mut().for_each(|journal| journal.truncate(length)))
    }

    async fn replace(&self, checkpoint: &[u8], keep: usize) -> Result<()> {
        self.with(|stored| {
            let before = std::mem::replace(&mut stored.checkpoint, checkpoint.to_vec());
            let number = stored.generations.last_key_value().map_or(1, |(newest, _)| newest + 1);
            stored.generations.insert(number, before);
            while stored.generations.len() > keep.max(MIN_GENERATIONS) {
                stored.generations.pop_first();
            }
        })
    }

    async fn write_seal(&self, seal: &[u8]) -> Result<()> {
        self.with(|stored| stored.seal = Some(seal.to_vec()))
    }

    async fn write_tags(&self, tags: &[u8]) -> Result<()> {
        self.with(|stored| stored.tags = Some(tags.to_vec()))
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
        self.backend.content().stacks.remove(&self.stack);
        Ok(())
    }

    async fn release(&self) -> Result<()> {
        // A lease that was lost is no longer ours to give back.
        let _ = self.with(|stored| stored.holder = None);
        Ok(())
    }
}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        let _ = self.with(|stored| stored.holder = None);
    }
}
