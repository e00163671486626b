//! The sole right to write to a stack, while it lasts.

pub(in crate::object) mod claim;
pub(in crate::object) mod fence;
mod heartbeat;
mod lease_state;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures::channel::oneshot;
use maloko_core::error::{Error, Result};
use maloko_core::message;
use maloko_core::message::Command;
use maloko_core::state::{Lease, StackName, StoredStack};
use object_store::UpdateVersion;

use super::batch::{self, Piece, Pieces};
use super::bucket::Bucket;
use super::keys::StackKeys;
use super::lease::heartbeat::Heartbeat;
use super::lease::lease_state::LeaseState;
use super::listing::survey;
use super::mark;
use super::open_store::OpenStore;
use super::record::Record;
use super::{checkpoint, seal};

/// A lease that was just won.
pub(crate) struct WonLease {
    pub(crate) bucket: Bucket,
    pub(crate) record: Record,
    pub(crate) version: UpdateVersion,
    /// When it was asked for, by our own measure.
    pub(crate) asked: std::time::Duration,
    /// The first free number of the journal.
    pub(crate) next: u64,
    /// The lock that other tools see.
    pub(crate) lock: String,
}

/// A lease on a stack of an object store.
pub(crate) struct ObjectLease {
    shared: Arc<HeldLease>,
    heartbeat: Mutex<Option<Heartbeat>>,
}

/// What a lease needs to work, and to be given back by others when it is dropped.
struct HeldLease {
    lease_state: Arc<LeaseState>,
    files: futures::lock::Mutex<Files>,
    lock: String,
    released: AtomicBool,
}

/// What is known of an object that may be missing.
#[derive(Default)]
enum KnownVersion {
    #[default]
    NotYet,
    Missing,
    There(UpdateVersion),
}

impl From<Option<UpdateVersion>> for KnownVersion {
    fn from(version: Option<UpdateVersion>) -> Self {
        version.map_or(Self::Missing, Self::There)
    }
}

/// What the holder knows of the stack's objects; nobody else writes them.
struct Files {
    /// The number of the next piece of the journal.
    next: u64,
    /// Was a piece with this number sent, and never answered for? It may still come about, however late.
    doubtful: bool,
    /// The pieces that the journal consists of; `None` before they were looked for.
    pieces: Option<Vec<String>>,
    checkpoint: KnownVersion,
    /// The bytes of the checkpoint, where somebody else wrote it, who may have kept a copy of it already.
    found_size: Option<u64>,
    seal: KnownVersion,
    /// The name of the checkpoint's summary, if it may be there.
    summary: Option<String>,
    /// That of the checkpoint which this lease wrote last: it is made when there is no journal any more.
    made: Option<String>,
    /// Counts what this lease wrote, so that no two of its writes are alike.
    writes: u64,
    removed: bool,
}

impl ObjectLease {
    pub(crate) fn begin(store: &OpenStore, stack: &StackName, keys: StackKeys, taken: WonLease) -> Result<Self> {
        let WonLease { bucket, record, version, asked, next, lock } = taken;
        // Between two leases that were given back there is no journal, unless it was left on purpose.
        let pieces = (record.journal_start == next).then(Vec::new);
        let (checkpoint, seal) = (KnownVersion::NotYet, KnownVersion::NotYet);
        let files = Files {
            next,
            doubtful: false,
            pieces,
            checkpoint,
            found_size: None,
            seal,
            summary: record.summary.clone(),
            made: None,
            writes: 0,
            removed: false,
        };
        let lease_state = Arc::new(LeaseState::new(store, stack, keys, bucket, (record, version, asked)));
        let heartbeat = Heartbeat::start(Arc::clone(&lease_state))?;
        let files = futures::lock::Mutex::new(files);
        let shared = Arc::new(HeldLease { lease_state, files, lock, released: AtomicBool::new(false) });
        Ok(Self { shared, heartbeat: Mutex::new(Some(heartbeat)) })
    }

    /// The stack's bucket, told whether its store can refuse a write.
    pub(crate) fn bucket(&self) -> &Bucket {
        self.shared.bucket()
    }

    /// Notes which checkpoint the stack was made with.
    pub(crate) async fn made(&self, version: &UpdateVersion, checkpoint: &[u8]) {
        let made = survey::key(self.shared.keys(), version.e_tag.as_deref(), checkpoint);
        self.shared.files.lock().await.made = made;
    }

    /// From now on there is a stack: a checkpoint that is missing later was lost.
    pub(crate) async fn stack_is_there(&self) -> Result<()> {
        self.shared.lease_state.mark_stack(true).await
    }

    /// Refuses when the stack was removed before the lease was won. What stands in the lease may be older than the stack,
    /// of which another tool or a run that was killed has made the checkpoint only.
    pub(crate) async fn require_stack(&self) -> Result<()> {
        if !self.shared.lease_state.has_no_stack().await {
            return Ok(());
        }
        checkpoint::read(self.bucket(), &self.shared.lease_state.stack, self.shared.keys()).await?;
        self.stack_is_there().await
    }

    fn stop_heartbeat(&self) -> Option<oneshot::Receiver<()>> {
        let heartbeat = self.heartbeat.lock().unwrap_or_else(PoisonError::into_inner).take();
        heartbeat.map(Heartbeat::stop)
    }
}

impl HeldLease {
    fn bucket(&self) -> &Bucket {
        self.lease_state.bucket()
    }

    fn keys(&self) -> &StackKeys {
        self.lease_state.keys()
    }

    /// Refuses when the lease was given back, or lost.
    async fn check(&self) -> Result<()> {
        if self.released.load(Ordering::SeqCst) {
            return Err(Error::Locked("the lock on the stack was given back already".into()));
        }
        self.lease_state.check().await
    }

    /// The pieces of the journal, read.
    async fn pieces(&self, files: &mut Files) -> Result<Pieces> {
        if files.pieces.as_ref().is_some_and(Vec::is_empty) {
            return Ok(Pieces::default());
        }
        let pieces = batch::read(self.bucket(), self.keys(), self.lease_state.journal_start().await).await?;
        let batches = pieces.found.iter().filter(|piece| piece.fence.is_none());
        files.pieces = Some(batches.map(|piece| piece.key.clone()).collect());
        Ok(pieces)
    }

    async fn load(&self) -> Result<StoredStack> {
        let mut files = self.files.lock().await;
        let (found, (seal, seal_version)) = futures::future::try_join(
            checkpoint::read(self.bucket(), &self.lease_state.stack, self.keys()),
            seal::read(self.bucket(), self.keys()),
        )
        .await?;
        let pieces = self.pieces(&mut files).await?;
        files.checkpoint = found.version.clone().into();
        files.found_size = Some(found.size());
        files.seal = seal_version.into();
        Ok(StoredStack {
            checkpoint: found.content(),
            checkpoint_place: self.bucket().place(&self.keys().checkpoint),
            journal: pieces.journal(),
            journal_place: pieces.place(self.bucket(), self.keys()),
            seal,
        })
    }

    async fn append(&self, lines: &[u8]) -> Result<()> {
        let mut files = self.files.lock().await;
        self.check().await?;
        self.settle(&mut files).await?;
        let (epoch, id) = (self.lease_state.epoch, self.lease_state.id.as_str());
        let sequence = files.next;
        files.doubtful = true;
        let key = self.keys().batch(sequence, if self.bucket().is_conditional() { None } else { Some(id) });
        let put = self.bucket().put_new(&key, batch::batch(epoch, id, sequence, lines));
        let written = match &files.summary {
            // From now on the checkpoint is not all that counts.
            Some(summary) => futures::future::try_join(put, self.bucket().delete(summary)).await?.0,
            None => put.await?,
        };
        files.summary = None;
        if written.is_none() {
            return Err(self.shut_out(key).await);
        }
        if !self.bucket().is_conditional() {
            // A store that cannot refuse a write tells only afterwards that it came too late.
            self.lease_state.confirm().await?;
        }
        if files.pieces.is_none() {
            self.pieces(&mut files).await?;
        } else if let Some(pieces) = &mut files.pieces {
            pieces.push(key);
        }
        (files.next, files.doubtful) = (files.next + 1, false);
        Ok(())
    }

    /// Takes the number of a piece that may still come about out of use: a fence stands there, or behind it if it has come
    /// by now. Without that, a late one would be taken for a piece of the next journal.
    async fn settle(&self, files: &mut Files) -> Result<()> {
        if !files.doubtful {
            return Ok(());
        }
        let fence = (self.lease_state.epoch, self.lease_state.id.as_str(), &self.lease_state.who().await);
        let taken = batch::put_fence(self.bucket(), self.keys(), files.next, fence).await?;
        (files.next, files.doubtful, files.pieces) = (taken + 1, false, None);
        Ok(())
    }

    /// The error for a write that met another one under its number.
    async fn shut_out(&self, key: String) -> Error {
        let found = match self.bucket().get(&key).await {
            Ok(found) => found,
            Err(error) => return error,
        };
        let piece = found.and_then(|found| Piece::decode(key, found.bytes));
        self.lease_state.lost_to(piece.and_then(|piece| piece.fence)).await
    }

    async fn cut_journal(&self, length: u64) -> Result<()> {
        let mut files = self.files.lock().await;
        self.check().await?;
        // Old pieces are written over without a condition: so the lease is made sure of just before.
        self.lease_state.renew().await?;
        let mut left = usize::try_from(length).unwrap_or(usize::MAX);
        let pieces = self.pieces(&mut files).await?;
        if pieces.missing.is_some() {
            let place = pieces.place(self.bucket(), self.keys());
            return Err(Error::BadState(message![
                format!("the journal {place} cannot be cut; set it aside with "),
                Command::new("state restore").with("--journal")
            ]));
        }
        for piece in pieces.found {
            let lines = piece.lines().len();
            if lines > left {
                self.bucket().put(&piece.key, piece.cut(left)).await?;
            }
            left = left.saturating_sub(lines);
        }
        // Whether anything is left of it is looked up when that counts.
        files.pieces = None;
        Ok(())
    }

    async fn replace(&self, content: &[u8], keep: usize) -> Result<()> {
        let mut files = self.files.lock().await;
        self.check().await?;
        let (bucket, keys) = (self.bucket(), self.keys());
        let version = match std::mem::take(&mut files.checkpoint) {
            KnownVersion::There(version) => Some(version),
            KnownVersion::Missing => None,
            KnownVersion::NotYet => {
                let found = checkpoint::read(bucket, &self.lease_state.stack, keys).await?;
                files.found_size = Some(found.size());
                found.version
            }
        };
        // The lease was ours after the version was known: who takes over from now on changes the version.
        self.lease_state.renew().await?;
        let mut surplus = checkpoint::keep_generation(bucket, keys, keep, files.found_size).await?;
        files.writes += 1;
        let bytes = mark::marked(content, self.lease_state.epoch, files.writes);
        let written = match version {
            Some(version) => bucket.put_if(&keys.checkpoint, bytes, version).await?,
            None => bucket.put_new(&keys.checkpoint, bytes).await?,
        };
        match written {
            Some(version) => {
                files.made = survey::key(keys, version.e_tag.as_deref(), content);
                (files.checkpoint, files.found_size) = (KnownVersion::There(version), None);
            }
            None => return Err(self.overtaken().await),
        }
        surplus.extend(files.summary.take());
        bucket.delete_all(&surplus).await
    }

    /// The error for a checkpoint that somebody else has written.
    async fn overtaken(&self) -> Error {
        if let Err(lost) = self.lease_state.confirm().await {
            return lost;
        }
        Error::Locked(format!(
            "{} was written by somebody else (`pulumi`?) while this run was going on, so it is left as it is now; run the \
             command again",
            self.bucket().place(&self.keys().checkpoint)
        ).into())
    }

    async fn write_seal(&self, content: &[u8]) -> Result<()> {
        let mut files = self.files.lock().await;
        self.check().await?;
        let (bucket, keys) = (self.bucket(), self.keys());
        let version = match std::mem::take(&mut files.seal) {
            KnownVersion::There(version) => Some(version),
            KnownVersion::Missing => None,
            KnownVersion::NotYet => bucket.version(&keys.seal).await?,
        };
        // As for the checkpoint.
        self.lease_state.renew().await?;
        files.writes += 1;
        let bytes = seal::encode(content, self.lease_state.epoch, files.writes);
        let written = match version {
            Some(version) => bucket.put_if(&keys.seal, bytes, version).await?,
            None => bucket.put_new(&keys.seal, bytes).await?,
        };
        match written {
            Some(version) => {
                files.seal = KnownVersion::There(version);
                Ok(())
            }
            None => Err(self.lease_state.lost_to(None).await),
        }
    }

    async fn write_tags(&self, content: &[u8]) -> Result<()> {
        self.check().await?;
        let (bucket, keys) = (self.bucket(), self.keys());
        let version = bucket.version(&keys.tags).await?;
        // As for the checkpoint.
        self.lease_state.renew().await?;
        let written = match version {
            Some(version) => bucket.put_if(&keys.tags, content.to_vec(), version).await?,
            None => bucket.put_new(&keys.tags, content.to_vec()).await?,
        };
        match written {
            Some(_) => Ok(()),
            None => Err(self.lease_state.lost_to(None).await),
        }
    }

    async fn remove_journal(&self) -> Result<()> {
        let mut files = self.files.lock().await;
        self.check().await?;
        self.settle(&mut files).await?;
        if files.pieces.is_none() {
            self.pieces(&mut files).await?;
        }
        let start = self.lease_state.journal_start().await;
        if start == files.next {
            return self.lease_state.renew().await;
        }
        // From here on the pieces count no more, all at once; whether they are there does not matter.
        self.lease_state.begin_journal_at(files.next).await?;
        let pieces = files.pieces.replace(Vec::new()).unwrap_or_default();
        self.bucket().delete_all(&pieces).await
    }

    async fn set_journal_aside(&self) -> Result<String> {
        let place = {
            let mut files = self.files.lock().await;
            self.check().await?;
            self.lease_state.renew().await?;
            let lines = self.pieces(&mut files).await?.journal().unwrap_or_default();
            let moment = self.lease_state.environment.clock.now().as_second();
            let key = format!("{}journal-{moment}-{}-{}", self.keys().aside, self.lease_state.epoch, files.next);
            self.bucket().put(&key, lines).await?;
            self.bucket().place(&key)
        };
        self.remove_journal().await?;
        Ok(place)
    }

    async fn remove_stack(&self) -> Result<()> {
        self.remove_journal().await?;
        let mut files = self.files.lock().await;
        let (bucket, keys) = (self.bucket(), self.keys());
        bucket.copy(&keys.checkpoint, &keys.backup).await?;
        // Removing cannot be made conditional: so the lease is made sure of just before. From here on a checkpoint that is
        // missing was not lost.
        self.lease_state.mark_stack(false).await?;
        bucket.delete(&keys.checkpoint).await?;
        files.checkpoint = KnownVersion::NotYet;
        files.removed = true;
        let mut rest = bucket.list(&keys.history).await?;
        rest.extend([keys.tags.clone(), keys.seal.clone()]);
        rest.extend(files.summary.take());
        bucket.delete_all(&rest).await
    }

    async fn release(&self) -> Result<()> {
        if self.released.swap(true, Ordering::SeqCst) || self.bucket().io().is_inherited() || self.lease_state.is_lost()
        {
            return Ok(());
        }
        let mut files = self.files.lock().await;
        self.settle(&mut files).await?;
        // Where no line was written there may be fences, which are no journal: one stands in every stack from the start.
        let journal_left = match &files.pieces {
            Some(pieces) if !pieces.is_empty() => true,
            _ => self.pieces(&mut files).await?.journal().is_some(),
        };
        if !journal_left || files.removed {
            // While a journal is left the lock stays: no other tool may take the checkpoint for the whole truth.
            let unlock = self.bucket().delete(&self.lock);
            match files.made.take().filter(|_| !files.removed) {
                Some(made) => {
                    // Without it a list reads the state.
                    let (unlocked, put) = futures::future::join(unlock, self.bucket().put(&made, Vec::new())).await;
                    unlocked?;
                    files.summary = put.is_ok().then_some(made);
                }
                None => unlock.await?,
            }
        }
        let start = if journal_left { None } else { Some(files.next) };
        match self.lease_state.give_back(start, files.next, files.summary.as_deref()).await {
            // It is no longer ours to give back.
            Err(Error::Locked(_)) if self.lease_state.is_lost() => Ok(()),
            given => given,
        }
    }
}

#[async_trait]
impl Lease for ObjectLease {
    fn epoch(&self) -> u64 {
        self.shared.lease_state.epoch
    }

    async fn load(&self) -> Result<StoredStack> {
        self.shared.load().await
    }

    async fn reserve(&self, _bytes: u64) -> Result<()> {
        // A bucket has no room that could run out.
        Ok(())
    }

    async fn append(&self, bytes: &[u8]) -> Result<()> {
        self.shared.append(bytes).await
    }

    async fn cut_journal(&self, length: u64) -> Result<()> {
        self.shared.cut_journal(length).await
    }

    async fn replace(&self, checkpoint: &[u8], keep: usize) -> Result<()> {
        self.shared.replace(checkpoint, keep).await
    }

    async fn write_seal(&self, seal: &[u8]) -> Result<()> {
        self.shared.write_seal(seal).await
    }

    async fn write_tags(&self, tags: &[u8]) -> Result<()> {
        self.shared.write_tags(tags).await
    }

    async fn remove_journal(&self) -> Result<()> {
        self.shared.remove_journal().await
    }

    async fn set_journal_aside(&self) -> Result<String> {
        self.shared.set_journal_aside().await
    }

    async fn remove_stack(&self) -> Result<()> {
        self.shared.remove_stack().await
    }

    async fn release(&self) -> Result<()> {
        if let Some(ended) = self.stop_heartbeat()
            && !self.shared.bucket().io().is_inherited()
        {
            // It ends at once, unless it is writing; that its thread is gone is as good.
            let _ = ended.await;
        }
        self.shared.release().await
    }
}

impl Drop for ObjectLease {
    fn drop(&mut self) {
        drop(self.stop_heartbeat());
        if self.shared.released.load(Ordering::SeqCst) || self.shared.bucket().io().is_inherited() {
            return;
        }
        // Nobody is left to be told about an error; a lease that stays is taken over after a while.
        let shared = Arc::clone(&self.shared);
        let release = Box::pin(async move { drop(shared.release().await) });
        if let Ok(worker) = self.shared.lease_state.environment.workers.start("maloko-release", release) {
            worker.join();
        }
    }
}
