//! The sole right to write to a stack: a lock of the operating system for other maloko processes, which goes with its
//! process, and a lock file for Pulumi's command line.
//!
//! The lease is lost when another file was put in the place of the one that is locked ([`takeover`](super::takeover)), or
//! when the lock file was removed. Every write asks before it whether the lease is still ours, and an append asks again
//! before it is reported as durable. What cannot be taken back (files that change their names) is done behind the
//! [gate](super::gate), which who takes over has to pass as well: so a process that was stopped for hours writes nothing
//! when it wakes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::environment::Environment;
use crate::environment::files::{self, Files, LockedFile, OpenFile, OpenMode, io_error};
use crate::environment::platform::OwnProcess;
use crate::environment::side_by_side::{LONG_TEXT, side_by_side};
use crate::error::{Error, Result};
use crate::state::backend::{Lease, StoredStack};
use crate::state::checkpoint::summary::Summary;

use super::epoch::{epoch_in, epoch_text};
use super::generations;
use super::layout::StackFiles;
use super::{gate, locks, summaries, takeover};

/// So many bytes more than are needed are reserved at once, where there is room for them: a call of the system for each
/// batch of records would be one too many.
const RESERVED_AHEAD: u64 = 512 * 1024;

/// A lease on a stack of a local directory.
pub(super) struct LocalLease {
    files: StackFiles,
    environment: Environment,
    epoch: u64,
    held: Mutex<Option<HeldFiles>>,
}

/// What a lease has open as long as it lasts.
struct HeldFiles {
    owner: OwnProcess,
    lock: Box<dyn LockedFile>,
    lock_file: PathBuf,
    journal: Option<OpenJournal>,
    removed: bool,
}

struct OpenJournal {
    file: Box<dyn OpenFile>,
    /// Bytes that are known to be good.
    length: u64,
    /// Up to this length there is room, whatever else fills the disk.
    reserved: u64,
}

impl LocalLease {
    pub(super) fn take(files: StackFiles, environment: Environment, operation: &str) -> Result<Self> {
        let environment = Environment { files: Arc::clone(&files.disk), ..environment };
        let disk = &*files.disk;
        files::create_dir(disk, &files.own)?;
        let locked = disk.try_lock(&files.lease).map_err(|error| io_error("lock", &files.lease, error))?;
        let Some(mut lock) = locked else {
            let holders =
                locks::list(disk, &files.locks)?.into_iter().filter(|lock| lock.holder.maloko).collect::<Vec<_>>();
            return Err(locks::locked(&files.name, &holders));
        };
        let mut foreign = Vec::new();
        for found in locks::list(disk, &files.locks)? {
            if found.holder.maloko {
                // Its process would hold the lock of the operating system; we do, so it is gone.
                files::remove_if_exists(disk, &found.path)?;
            } else {
                foreign.push(found);
            }
        }
        if !foreign.is_empty() {
            return Err(locks::locked(&files.name, &foreign));
        }
        let epoch = next_epoch(&mut *lock, &files.lease)?;
        files.remove_staged()?;
        files.settle_removal()?;
        let lock_file = locks::write(&environment, &files.locks, operation)?;
        let held =
            HeldFiles { owner: OwnProcess::here(), lock, lock_file: lock_file.clone(), journal: None, removed: false };
        let lease = Self { files, environment, epoch, held: Mutex::new(Some(held)) };
        // Pulumi's command line may have looked before our lock file was there: whoever sees the other one yields.
        let others: Vec<_> = locks::list(&*lease.files.disk, &lease.files.locks)?
            .into_iter()
            .filter(|found| found.path != lock_file)
            .collect();
        if others.is_empty() {
            return Ok(lease);
        }
        let error = locks::locked(&lease.files.name, &others);
        lease.give_back()?;
        Err(error)
    }

    fn disk(&self) -> &dyn Files {
        &*self.files.disk
    }

    fn held(&self) -> MutexGuard<'_, Option<HeldFiles>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that needs the lease; refuses when it was lost.
    fn with<T>(&self, act: impl FnOnce(&mut HeldFiles) -> Result<T>) -> Result<T> {
        let mut guard = self.held();
        let held =
            guard.as_mut().ok_or_else(|| Error::Locked("the lock on the stack was given back already".into()))?;
        if !held.owner.is_here() {
            return Err(Error::Locked("a process that was forked off a run cannot write to its stack".into()));
        }
        self.check(held)?;
        act(held)
    }

    /// Does something that cannot be taken back: nobody takes the stack over between the question whether the lease is
    /// still ours and the act.
    async fn fenced<T>(&self, act: impl FnOnce(&mut HeldFiles) -> Result<T> + Send) -> Result<T> {
        self.with(|_| Ok(()))?;
        let _gate = gate::enter(&self.files, &self.environment).await?;
        self.with(act)
    }

    /// Is the lease still ours?
    fn check(&self, held: &HeldFiles) -> Result<()> {
        let current = held.lock.is_current().map_err(|error| io_error("look for", &self.files.lease, error))?;
        if current && files::exists(self.disk(), &held.lock_file)? {
            return Ok(());
        }
        let stack = self.files.name.stack();
        Err(Error::Locked(match takeover::by_whom(&self.files, &held.lock_file) {
            Some(holder) => format!(
                "the stack '{stack}' was taken over by {holder} while this run was going on, so nothing more is written. What \
                 was recorded before is not lost: it is in their hands"
            ).into(),
            None => format!(
                "the lock on the stack '{stack}' was removed while this run was going on (by `pulumi cancel`?), so nothing \
                 more is written. What was recorded before is in {}",
                self.files.journal.display()
            ).into(),
        }))
    }

    /// The journal, opened for appending.
    fn open_journal<'h>(&self, held: &'h mut HeldFiles) -> Result<&'h mut OpenJournal> {
        match &mut held.journal {
            Some(journal) => Ok(journal),
            none => {
                // As long as there is a journal, there has to be a lock: also after a power cut.
                let synced = locks::sync(self.disk(), &held.lock_file).and_then(|()| held.lock.sync());
                synced.map_err(|error| io_error("write", &held.lock_file, error))?;
                Ok(none.insert(OpenJournal::open(self.disk(), &self.files.journal)?))
            }
        }
    }

    fn has_open_journal(&self) -> bool {
        self.held().as_ref().is_some_and(|held| held.journal.is_some())
    }

    /// Opens the journal, which makes it if there is none: behind the gate, so that nobody who was overtaken makes one.
    async fn prepare_journal(&self) -> Result<()> {
        if self.has_open_journal() { Ok(()) } else { self.fenced(|held| self.open_journal(held).map(drop)).await }
    }

    /// Gives the lease back. While a journal is left, the lock file stays: no other tool may take the checkpoint for
    /// the whole truth, and the next maloko removes a lock file whose process is gone.
    pub(super) fn give_back(&self) -> Result<()> {
        let Some(held) = self.held().take() else { return Ok(()) };
        drop(held.journal);
        if !held.owner.is_here() {
            return Ok(());
        }
        if !held.lock.is_current().unwrap_or(false) {
            // The stack is another's; all that may be ours is the lock file.
            return files::remove_if_exists(self.disk(), &held.lock_file).map(drop);
        }
        if !held.removed && files::exists(self.disk(), &self.files.journal)? {
            return Ok(());
        }
        files::remove_if_exists(self.disk(), &held.lock_file)?;
        // Only tidiness: the directory may hold another lock by now.
        let _ = self.disk().remove_directory(&self.files.locks);
        if held.removed {
            // Whoever is about to take over a stack that is gone will find that it is.
            let Ok(Some(_gate)) = self.disk().try_lock(&self.files.gate) else { return Ok(()) };
            files::remove_if_exists(self.disk(), &self.files.lease)?;
            files::remove_if_exists(self.disk(), &self.files.removed)?;
            files::remove_if_exists(self.disk(), &self.files.gate)?;
            // Former checkpoints stay, so that a stack that was removed by mistake can be brought back.
            let _ = self.disk().remove_directory(&self.files.own);
        }
        Ok(())
    }
}

fn next_epoch(lock: &mut dyn LockedFile, path: &Path) -> Result<u64> {
    let fail = |error| io_error("write", path, error);
    let epoch = epoch_in(&lock.read().map_err(fail)?).saturating_add(1);
    lock.write(&epoch_text(epoch)).map_err(fail)?;
    Ok(epoch)
}

impl OpenJournal {
    fn open(disk: &dyn Files, path: &Path) -> Result<Self> {
        let fail = |error| io_error("write", path, error);
        let file = disk.open(path, OpenMode::Append).map_err(fail)?;
        let length = file.length().map_err(fail)?;
        if let Some(directory) = path.parent() {
            disk.sync_directory(directory).map_err(fail)?;
        }
        Ok(Self { file, length, reserved: length })
    }

    fn reserve(&mut self, bytes: u64, path: &Path) -> Result<()> {
        if self.length + bytes <= self.reserved {
            return Ok(());
        }
        let generous = bytes + RESERVED_AHEAD;
        let got = match self.file.reserve(generous) {
            Ok(()) => generous,
            // Perhaps there is room for what is needed, but not for more.
            Err(_) => {
                self.file.reserve(bytes).map(|()| bytes).map_err(|error| io_error("reserve room in", path, error))?
            }
        };
        self.reserved = self.length + got;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8], path: &Path) -> Result<()> {
        #[cfg(all(feature = "for-tests", debug_assertions))]
        if crate::fail_points::is_on("kill::within-record") {
            // The rest of it is lost with the process.
            let _ = self.file.write_all(&bytes[..bytes.len() / 2]);
            crate::fail_points::kill_now();
        }
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // A half written record would be taken for a torn one at the next start; better it is not there at all.
            let _ = self.file.truncate(self.length);
            self.reserved = self.length;
            return Err(io_error("write", path, error));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }
}

#[async_trait]
impl Lease for LocalLease {
    fn epoch(&self) -> u64 {
        self.epoch
    }

    async fn load(&self) -> Result<StoredStack> {
        self.files.load()
    }

    async fn reserve(&self, bytes: u64) -> Result<()> {
        self.prepare_journal().await?;
        self.with(|held| self.open_journal(held)?.reserve(bytes, &self.files.journal))
    }

    async fn append(&self, bytes: &[u8]) -> Result<()> {
        self.prepare_journal().await?;
        self.with(|held| {
            self.open_journal(held)?.append(bytes, &self.files.journal)?;
            // Who takes over copies the journal after the lease has changed hands. If it has not, the bytes are there.
            self.check(held)
        })
    }

    async fn cut_journal(&self, length: u64) -> Result<()> {
        self.fenced(|held| {
            held.journal = None;
            let cut = || -> std::io::Result<()> {
                let mut file = self.disk().open(&self.files.journal, OpenMode::Existing)?;
                // A file can also be made longer this way.
                let length = length.min(file.length()?);
                file.truncate(length)?;
                file.sync_all()
            };
            cut().map_err(|error| io_error("write", &self.files.journal, error))
        })
        .await
    }

    async fn replace(&self, checkpoint: &[u8], keep: usize) -> Result<()> {
        // A long one is summed up while the disk is waited for.
        let stage = || self.with(|_| self.files.stage(checkpoint, self.epoch));
        let (staged, summary) = side_by_side(checkpoint.len() >= LONG_TEXT, stage, || Summary::of(checkpoint));
        let staged = staged?;
        let keep_and_replace = || {
            generations::add(&self.files, keep)?;
            self.files.replace(&staged)?;
            summaries::keep(&self.files, summary);
            Ok(())
        };
        let replaced = self.fenced(|_| keep_and_replace()).await;
        if replaced.is_err() {
            // It may be what filled the disk.
            let _ = self.disk().remove(&staged);
        }
        replaced
    }

    async fn write_seal(&self, seal: &[u8]) -> Result<()> {
        self.fenced(|_| files::write_atomically(self.disk(), &self.files.seal, seal)).await
    }

    async fn write_tags(&self, tags: &[u8]) -> Result<()> {
        self.fenced(|_| files::write_atomically(self.disk(), &self.files.tags, tags)).await
    }

    async fn remove_journal(&self) -> Result<()> {
        self.fenced(|held| {
            held.journal = None;
            files::remove_if_exists(self.disk(), &self.files.journal).map(drop)
        })
        .await
    }

    async fn set_journal_aside(&self) -> Result<String> {
        self.fenced(|held| {
            held.journal = None;
            let moment = self.environment.clock.now().as_second();
            let (disk, own) = (self.disk(), &self.files.own);
            let fail = |error| io_error("rename", &self.files.journal, error);
            let mut aside = own.join(format!("journal-{moment}-{}", self.epoch));
            // Another one may have been set aside in this very second; it is not overwritten.
            let mut number = 1;
            while files::exists(disk, &aside)? {
                number += 1;
                aside = own.join(format!("journal-{moment}-{}-{number}", self.epoch));
            }
            disk.rename_new(&self.files.journal, &aside).and_then(|()| disk.sync_directory(own)).map_err(fail)?;
            Ok(aside.display().to_string())
        })
        .await
    }

    async fn remove_stack(&self) -> Result<()> {
        self.fenced(|held| {
            self.files.remove()?;
            held.removed = true;
            Ok(())
        })
        .await
    }

    async fn release(&self) -> Result<()> {
        self.give_back()
    }
}

impl Drop for LocalLease {
    fn drop(&mut self) {
        // Nobody is left to be told about an error; a lock that stays is known to be stale.
        let _ = self.give_back();
    }
}
