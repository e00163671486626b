//! The sole right to write to a stack: a lock of the operating system for other maloko processes, which goes with its
//! process, and a lock file for Pulumi's command line.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::state::backend::{Lease, StoredStack};
use crate::state::platform::{self, FileLock, OwnProcess, io_error};
use crate::state::surroundings::Surroundings;

use super::layout::StackFiles;
use super::locks;

/// Digits of the epoch in the lease file: as many as any epoch has, so that its length never changes.
const EPOCH_DIGITS: usize = 20;

/// A lease on a stack of a local directory.
pub(super) struct LocalLease {
    files: StackFiles,
    surroundings: Surroundings,
    epoch: u64,
    held: Mutex<Option<Held>>,
}

struct Held {
    owner: OwnProcess,
    lock: FileLock,
    lock_file: PathBuf,
    journal: Option<OpenJournal>,
    removed: bool,
}

struct OpenJournal {
    file: File,
    /// Bytes that are known to be good.
    length: u64,
}

impl LocalLease {
    pub(super) fn take(files: StackFiles, surroundings: Surroundings) -> Result<Self> {
        platform::create_private_dir(&files.own)?;
        let Some(mut lock) = FileLock::try_acquire(&files.lease)? else {
            let holders = locks::list(&files.locks)?.into_iter().filter(|lock| lock.holder.maloko).collect::<Vec<_>>();
            return Err(locks::locked(&files.name, &holders));
        };
        let mut foreign = Vec::new();
        for found in locks::list(&files.locks)? {
            if found.holder.maloko {
                // Its process would hold the lock of the operating system; we do, so it is gone.
                platform::remove_if_exists(&found.path)?;
            } else {
                foreign.push(found);
            }
        }
        if !foreign.is_empty() {
            return Err(locks::locked(&files.name, &foreign));
        }
        let epoch = next_epoch(&mut lock, &files.lease)?;
        let lock_file = locks::write(&files.locks, &unique_id(&surroundings)?, &surroundings.clock.now().to_string())?;
        let held =
            Held { owner: OwnProcess::here(), lock, lock_file: lock_file.clone(), journal: None, removed: false };
        let lease = Self { files, surroundings, epoch, held: Mutex::new(Some(held)) };
        // Pulumi's command line may have looked before our lock file was there: whoever sees the other one yields.
        let others: Vec<_> =
            locks::list(&lease.files.locks)?.into_iter().filter(|found| found.path != lock_file).collect();
        if others.is_empty() {
            return Ok(lease);
        }
        let error = locks::locked(&lease.files.name, &others);
        lease.give_back()?;
        Err(error)
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that needs the lease; refuses when it was lost.
    fn with<T>(&self, act: impl FnOnce(&mut Held) -> Result<T>) -> Result<T> {
        let mut guard = self.held();
        let held =
            guard.as_mut().ok_or_else(|| Error::Locked("the lock on the stack was given back already".into()))?;
        if !held.owner.is_here() {
            return Err(Error::Locked("a process that was forked off a run cannot write to its stack".into()));
        }
        if !held.lock_file.exists() {
            return Err(Error::Locked(format!(
                "the lock on the stack '{}' was removed while this run was going on (by `pulumi cancel`?), so nothing more \
                 is written. What was recorded before is in {}",
                self.files.name.stack(),
                self.files.journal.display()
            )));
        }
        act(held)
    }

    /// Gives the lease back. While a journal is left, the lock file stays: no other tool may take the checkpoint for
    /// the whole truth, and the next maloko removes a lock file whose process is gone.
    pub(super) fn give_back(&self) -> Result<()> {
        let Some(held) = self.held().take() else { return Ok(()) };
        drop(held.journal);
        if !held.owner.is_here() {
            return Ok(());
        }
        if !held.removed && self.files.journal.exists() {
            return Ok(());
        }
        platform::remove_if_exists(&held.lock_file)?;
        // Only tidiness: the directory may hold another lock by now.
        let _ = std::fs::remove_dir(&self.files.locks);
        if held.removed {
            platform::remove_if_exists(&self.files.lease)?;
            let _ = std::fs::remove_dir(&self.files.own);
        }
        Ok(())
    }
}

fn next_epoch(lock: &mut FileLock, path: &Path) -> Result<u64> {
    let fail = |error| io_error("write", path, error);
    let last = lock.read().map_err(fail)?.trim().parse().unwrap_or(0_u64);
    let epoch = last.saturating_add(1);
    lock.write(&format!("{epoch:0EPOCH_DIGITS$}\n")).map_err(fail)?;
    Ok(epoch)
}

fn unique_id(surroundings: &Surroundings) -> Result<String> {
    let mut bytes = [0; 16];
    surroundings.entropy.fill(&mut bytes)?;
    Ok(uuid::Builder::from_random_bytes(bytes).into_uuid().to_string())
}

impl OpenJournal {
    fn open(path: &Path) -> Result<Self> {
        let fail = |error| io_error("write", path, error);
        let file = platform::private_options().append(true).create(true).open(path).map_err(fail)?;
        let length = file.metadata().map_err(fail)?.len();
        if let Some(directory) = path.parent() {
            platform::sync_dir(directory).map_err(fail)?;
        }
        Ok(Self { file, length })
    }

    fn append(&mut self, bytes: &[u8], path: &Path) -> Result<()> {
        let written = self.file.write_all(bytes).and_then(|()| self.file.sync_data());
        if let Err(error) = written {
            // A half written record would be taken for a torn one at the next start; better it is not there at all.
            let _ = self.file.set_len(self.length);
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

    async fn append(&self, bytes: &[u8]) -> Result<()> {
        self.with(|held| {
            let journal = match &mut held.journal {
                Some(journal) => journal,
                none => {
                    // As long as there is a journal, there has to be a lock: also after a power cut.
                    let synced = locks::sync(&held.lock_file).and_then(|()| held.lock.sync());
                    synced.map_err(|error| io_error("write", &held.lock_file, error))?;
                    none.insert(OpenJournal::open(&self.files.journal)?)
                }
            };
            journal.append(bytes, &self.files.journal)
        })
    }

    async fn cut_journal(&self, length: u64) -> Result<()> {
        self.with(|held| {
            held.journal = None;
            let cut = || -> std::io::Result<()> {
                let file = platform::private_options().write(true).open(&self.files.journal)?;
                file.set_len(length)?;
                file.sync_all()
            };
            cut().map_err(|error| io_error("write", &self.files.journal, error))
        })
    }

    async fn replace(&self, checkpoint: &[u8]) -> Result<()> {
        self.with(|_| self.files.replace(checkpoint))
    }

    async fn remove_journal(&self) -> Result<()> {
        self.with(|held| {
            held.journal = None;
            platform::remove_if_exists(&self.files.journal).map(drop)
        })
    }

    async fn set_journal_aside(&self) -> Result<String> {
        self.with(|held| {
            held.journal = None;
            let moment = self.surroundings.clock.now().as_second();
            let aside = self.files.own.join(format!("journal-{moment}-{}", self.epoch));
            let renamed =
                std::fs::rename(&self.files.journal, &aside).and_then(|()| platform::sync_dir(&self.files.own));
            renamed.map_err(|error| io_error("rename", &self.files.journal, error))?;
            Ok(aside.display().to_string())
        })
    }

    async fn remove_stack(&self) -> Result<()> {
        self.with(|held| {
            self.files.remove()?;
            held.removed = true;
            Ok(())
        })
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
