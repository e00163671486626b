//! A store of stacks in a bucket.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use maloko_core::error::{Error, Result};
use maloko_core::state::{
    Backend, Generation, Holder, Lease, ListedStack, StackFilter, StackName, StoredEntry, StoredStack,
};
use object_store::ObjectStore;

use crate::World;
use crate::slow_notice::SlowNotice;

use super::bucket::Bucket;
use super::connection::Connection;
use super::io::Io;
use super::keys::{self, META, STACKS, StackKeys};
use super::lease::{claim, fence};
use super::listing::survey;
use super::open_store::{Connect, OpenStore, Timing, layout_file};
use super::record::{Record, State, Who};
use super::{checkpoint, history, locks, mark};

/// How often the lock of a holder that goes on renewing it is tried to be broken.
const BREAK_ATTEMPTS: u32 = 16;

/// Stacks in an object store, in Pulumi's layout.
pub struct ObjectBackend {
    url: String,
    prefix: String,
    place: String,
    connect: Connect,
    /// Needs no runtime of its own.
    direct: bool,
    world: World,
    timing: Timing,
    opened: Mutex<Option<Arc<OpenStore>>>,
}

impl ObjectBackend {
    /// The store at an address. `prefix` stands before all names in the bucket: empty, or ending in '/'.
    pub(crate) fn new(url: String, place: String, prefix: String, connect: Connect, world: World) -> Self {
        let (timing, opened) = (Timing::default(), Mutex::new(None));
        Self { url, prefix, place, connect, direct: false, world, timing, opened }
    }

    /// A store over any object store that needs no runtime, such as one in memory: for tests and simulations.
    #[must_use]
    pub fn over(store: Arc<dyn ObjectStore>, world: World, timing: Timing) -> Self {
        let connect: Connect = Box::new(move || Ok(Connection { store: Arc::clone(&store), pages: None }));
        let place = "memory://".to_owned();
        let opened = Mutex::new(None);
        Self { url: place.clone(), prefix: String::new(), place, connect, direct: true, world, timing, opened }
    }

    /// The same store with other times.
    #[must_use]
    pub fn with_timing(self, timing: Timing) -> Self {
        Self { timing, ..self }
    }

    /// The connection of this process.
    async fn opened(&self) -> Result<Arc<OpenStore>> {
        let opened = {
            let mut known = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            match &*known {
                Some(opened) if !opened.bucket.io().is_inherited() => Arc::clone(opened),
                _ => Arc::clone(known.insert(Arc::new(self.open_anew()?))),
            }
        };
        opened.check_layout().await?;
        Ok(opened)
    }

    fn open_anew(&self) -> Result<OpenStore> {
        let notify = Arc::clone(&self.world.notify);
        let io = if self.direct { Io::Direct } else { Io::new(SlowNotice::new(&self.place, Arc::clone(&notify)))? };
        let connection = (self.connect)()?;
        let environment = self.world.environment.clone();
        let bucket = Bucket::new(connection, io, self.prefix.clone(), self.place.clone(), environment.clone());
        Ok(OpenStore::new(bucket, environment, notify, self.timing))
    }

    async fn require(&self, store: &OpenStore, stack: &StackName, keys: &StackKeys) -> Result<()> {
        if store.bucket.version(&keys.checkpoint).await?.is_some() {
            return Ok(());
        }
        checkpoint::read(&store.bucket, stack, keys).await.map(drop)
    }
}

#[async_trait]
impl Backend for ObjectBackend {
    fn url(&self) -> String {
        self.url.clone()
    }

    async fn list(&self) -> Result<Vec<StackName>> {
        survey::names(&self.opened().await?.bucket).await
    }

    async fn survey(&self, wanted: &StackFilter) -> Result<Vec<ListedStack>> {
        survey::survey(&self.opened().await?.bucket, wanted).await
    }

    async fn create(&self, stack: &StackName, checkpoint: &[u8]) -> Result<()> {
        let store = self.opened().await?;
        let keys = StackKeys::new(stack);
        let exists = || Error::Configuration(format!("there is a stack '{stack}' already in {}", self.url).into());
        store.bucket.put_new(META, layout_file()).await?;
        let listed = store.bucket.list(&format!("{STACKS}{}/", stack.project())).await?;
        let is_listed = listed.iter().any(|key| keys::stack_of(key).as_ref() == Some(stack));
        if is_listed || checkpoint::is_lost(&store.bucket, &keys).await? {
            return Err(exists());
        }
        let lease = claim::take(&store, stack, "stack init", true).await?;
        let mut written = lease.bucket().put_new(&keys.checkpoint, mark::marked(checkpoint, lease.epoch(), 0)).await;
        if let Ok(Some(version)) = &written {
            lease.made(version, checkpoint).await;
            if let Err(error) = lease.stack_is_there().await {
                written = Err(error);
            }
        }
        lease.release().await?;
        if written?.is_some() { Ok(()) } else { Err(exists()) }
    }

    async fn load(&self, stack: &StackName) -> Result<StoredStack> {
        let store = self.opened().await?;
        checkpoint::load(&store.bucket, stack, &StackKeys::new(stack)).await
    }

    async fn lease(&self, stack: &StackName, operation: &str) -> Result<Arc<dyn Lease>> {
        let store = self.opened().await?;
        self.require(&store, stack, &StackKeys::new(stack)).await?;
        let lease = claim::take(&store, stack, operation, false).await?;
        if let Err(error) = lease.require_stack().await {
            // The reason why it cannot be used is what the user needs to know.
            drop(lease.release().await);
            return Err(error);
        }
        Ok(Arc::new(lease))
    }

    async fn holders(&self, stack: &StackName) -> Result<Vec<Holder>> {
        let store = self.opened().await?;
        let keys = StackKeys::new(stack);
        let held = Record::read(&store.bucket, &keys.lease).await?.filter(|(record, _)| record.is_held());
        let mut holders: Vec<Holder> = held.map(|(record, _)| record.who.holder()).into_iter().collect();
        let foreign = locks::others(&store.bucket, &keys, None).await?.into_iter().filter(|lock| !lock.holder.maloko);
        holders.extend(foreign.map(|lock| lock.holder));
        Ok(holders)
    }

    async fn break_locks(&self, stack: &StackName) -> Result<Vec<Holder>> {
        let store = self.opened().await?;
        let keys = StackKeys::new(stack);
        let mut removed = break_lease(&store, stack, &keys).await?;
        let locks = locks::others(&store.bucket, &keys, None).await?;
        let names: Vec<String> = locks.iter().map(|lock| lock.key.clone()).collect();
        store.bucket.delete_all(&names).await?;
        removed.extend(locks.into_iter().map(|lock| lock.holder).filter(|holder| !holder.maloko));
        Ok(removed)
    }

    async fn generations(&self, stack: &StackName) -> Result<Vec<Generation>> {
        let store = self.opened().await?;
        checkpoint::generations(&store.bucket, &StackKeys::new(stack)).await
    }

    async fn load_generation(&self, stack: &StackName, number: u64) -> Result<Vec<u8>> {
        let store = self.opened().await?;
        checkpoint::load_generation(&store.bucket, &StackKeys::new(stack), number).await
    }

    async fn add_history(&self, stack: &StackName, at: i128, entry: &[u8], keep: usize) -> Result<()> {
        let store = self.opened().await?;
        history::add(&store.bucket, &StackKeys::new(stack), at, entry, keep).await
    }

    async fn adopt_history(&self, stack: &StackName, entries: &[StoredEntry]) -> Result<()> {
        let store = self.opened().await?;
        history::adopt(&store.bucket, &StackKeys::new(stack), entries).await
    }

    async fn history(&self, stack: &StackName, limit: usize) -> Result<Vec<StoredEntry>> {
        let store = self.opened().await?;
        let keys = StackKeys::new(stack);
        self.require(&store, stack, &keys).await?;
        history::list(&store.bucket, &keys, limit).await
    }

    async fn move_history(&self, from: &StackName, to: &StackName) -> Result<()> {
        let store = self.opened().await?;
        history::hand_on(&store.bucket, &StackKeys::new(from), &StackKeys::new(to)).await
    }

    async fn tags(&self, stack: &StackName) -> Result<Option<Vec<u8>>> {
        let store = self.opened().await?;
        let keys = StackKeys::new(stack);
        self.require(&store, stack, &keys).await?;
        Ok(store.bucket.get(&keys.tags).await?.map(|found| found.bytes.to_vec()))
    }
}

/// Takes the lease from whoever holds it, at once: from then on its holder can write nothing.
async fn break_lease(store: &OpenStore, stack: &StackName, keys: &StackKeys) -> Result<Vec<Holder>> {
    let bucket = &store.bucket;
    let mut taken_from: Option<Record> = None;
    for _ in 0..BREAK_ATTEMPTS {
        let held = Record::read(bucket, &keys.lease).await?.filter(|(record, _)| record.is_held());
        let still = held.filter(|(found, _)| taken_from.as_ref().is_none_or(|former| former.id == found.id));
        let Some((found, version)) = still else {
            return Ok(taken_from.iter().map(|former| former.who.holder()).collect());
        };
        let mut broken = found.clone();
        broken.state = State::Broken;
        broken.epoch += 1 + u64::from(taken_from.is_some());
        broken.id = store.environment.new_uuid()?.to_string();
        broken.who = Who::of(store.environment.as_holder("cancel"));
        // A heartbeat may have come in between; then there is another version to be replaced.
        if bucket.put_if(&keys.lease, broken.encode(), version).await?.is_some() {
            fence::shut_out(bucket, keys, &broken).await?;
            taken_from = Some(found);
            // Where the store cannot refuse, a heartbeat that was on its way may have undone it: so look once more.
        }
    }
    Err(Error::Locked(
        format!(
            "the lock on the stack '{}' changes all the time and could not be taken; run the command again",
            stack.stack()
        )
        .into(),
    ))
}
