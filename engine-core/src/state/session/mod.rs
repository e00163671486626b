//! A stack's state as one operation uses it.

mod comparison;
mod durability;
mod journal_queue;
mod journal_record;
mod journal_writer;
mod lock_wait;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tokio::sync::oneshot;

use crate::error::{Error, Result};
use crate::fail_points;
use crate::message;
use crate::message::{Command, Message};

use crate::environment::Environment;
use crate::environment::side_by_side::side_by_side;
use crate::state::backend::{Backend, Lease};
use crate::state::checkpoint::Checkpoint;
use crate::state::integrity::{check, check_on_load};
use crate::state::journal::header::Header;
use crate::state::journal::reading;
use crate::state::journal::recovery::{JournalFate, RecoveredStack, Run};
use crate::state::journal::unfinished::UnfinishedCommand;
use crate::state::loaded;
use crate::state::name::StackName;
use crate::state::order::canonical;
use crate::state::seal::{Before, HashedCheckpoint, RunningSeal, Sealer};
use crate::state::secrets::Crypter;
use crate::state::session_options::SessionOptions;
use crate::state::{Change, Snapshot};
use comparison::Comparison;
pub use durability::Durability;
use journal_record::Record;
use journal_writer::JournalWriter;
pub use lock_wait::LockWait;

/// So many resources take longer to check than a thread takes to begin.
const MANY_RESOURCES: usize = 1_000;

/// The state of a stack, opened for one operation.
pub struct Session {
    snapshot: Snapshot,
    notices: Vec<Message>,
    crypter: Option<Crypter>,
    store: Option<Store>,
    environment: Environment,
    lock_wait: Option<LockWait>,
}

/// What a session that writes needs.
struct Store {
    lease: Arc<dyn Lease>,
    journal: JournalWriter,
    stack: StackName,
    /// What stands in the store.
    before: Before,
    /// The file around the snapshot.
    envelope: Mutex<Checkpoint>,
    /// A mark stands in the place of the journal.
    marked: AtomicBool,
    options: SessionOptions,
}

impl Session {
    /// A session that keeps nothing: for tests that hand in the resources.
    #[must_use]
    pub fn read_only(snapshot: Snapshot) -> Self {
        Self {
            snapshot,
            notices: Vec::new(),
            crypter: None,
            store: None,
            environment: Environment::system(),
            lock_wait: None,
        }
    }

    /// What encrypts and decrypts the secrets of the stack; `None` for a session in memory.
    #[must_use]
    pub fn crypter(&self) -> Option<&Crypter> {
        self.crypter.as_ref()
    }

    /// A session that keeps nothing, for previews of a real stack: unseals with `crypter`.
    #[must_use]
    pub fn preview(snapshot: Snapshot, crypter: Crypter) -> Self {
        // A key that cannot be used has been reported when the snapshot was unsealed.
        let own = snapshot.key_record().ok().flatten().and_then(|record| crypter.with_record(&record).ok());
        let environment = crypter.environment().clone();
        let crypter = Some(own.unwrap_or(crypter));
        Self { snapshot, notices: Vec::new(), crypter, store: None, environment, lock_wait: None }
    }

    /// Opens a stack for writing: takes the lease, reads the checkpoint, recovers what a killed run left behind.
    pub async fn open(backend: &dyn Backend, stack: &StackName, options: SessionOptions) -> Result<Self> {
        Self::open_to_finish(backend, stack, options, None).await
    }

    /// Like [`Session::open`], also if this is what is not finished about the stack: the session goes on with it, and its
    /// [`compact`](Session::compact) finishes it.
    pub async fn open_to_finish(
        backend: &dyn Backend,
        stack: &StackName,
        options: SessionOptions,
        unfinished: Option<&UnfinishedCommand>,
    ) -> Result<Self> {
        // With a wrong passphrase nothing is written, not even a lock.
        options.crypter.verify()?;
        let asked = LockWait::begin(&options.environment);
        let lease = backend.lease(stack, &options.command).await?;
        let lock_wait = asked.end();
        let mut opened = Self::open_leased(stack, Arc::clone(&lease), options, unfinished).await;
        match &mut opened {
            Ok(session) => session.lock_wait = Some(lock_wait),
            // The reason why it could not be opened is what the user needs to know.
            Err(_) => drop(lease.release().await),
        }
        opened
    }

    async fn open_leased(
        stack: &StackName,
        lease: Arc<dyn Lease>,
        options: SessionOptions,
        unfinished: Option<&UnfinishedCommand>,
    ) -> Result<Self> {
        let mut stored = lease.load().await?;
        let marked = unfinished.is_some()
            && stored.journal.as_deref().and_then(UnfinishedCommand::decode).as_ref() == unfinished;
        if marked {
            stored.journal = None;
        }
        let (recovered, examined) = loaded::read(&stored, stack, Run::Killed);
        let RecoveredStack { mut checkpoint, mut hash, fate, mut notices } = recovered?;
        let crypter = options.crypter.clone();
        let theirs = checkpoint.snapshot.own_crypter(&crypter)?;
        notices.extend(examined.judge(
            stack,
            &stored.checkpoint_place,
            Some(theirs.seal_key()?),
            !options.check_integrity,
        )?);
        let mut before = Before::of(&examined);
        if options.check_integrity {
            check_on_load(&checkpoint, stack, &stored.checkpoint_place)?;
        }
        if let (JournalFate::Compact(journal), Some(bytes)) = (&fate, &stored.journal) {
            reading::verify(bytes, journal, theirs.seal_key()?, &stored.journal_place)?;
        }
        let rekeyed = checkpoint.snapshot.bring_under(&crypter)?;
        if matches!(fate, JournalFate::Compact(_)) || rekeyed {
            checkpoint.snapshot.stamp(&options.environment);
            let bytes = checkpoint.encode(&crypter)?;
            let written = HashedCheckpoint::new(&bytes);
            if let JournalFate::Compact(journal) = &fate {
                if journal.torn > 0 {
                    lease.cut_journal(journal.good as u64).await?;
                }
                lease.append(&journal.compaction_line(&written.hash, theirs.seal_key()?)).await?;
            }
            let sealer = Sealer { stack, options: &options };
            before = sealer.replace(&*lease, &before, written, &theirs, &crypter).await?;
            hash.clone_from(&before.hash);
        }
        match fate {
            JournalFate::Absent => {}
            JournalFate::Remove | JournalFate::Compact(_) => lease.remove_journal().await?,
            JournalFate::SetAside => {
                let place = lease.set_journal_aside().await?;
                notices.push(format!("the journal of the interrupted run is kept as {place}").into());
            }
        }
        let mut snapshot = std::mem::take(&mut checkpoint.snapshot);
        snapshot.unseal(&crypter)?;
        if checkpoint.stack.is_empty() {
            checkpoint.stack = stack.to_string();
        }
        let mut header = Header::new(stack.to_string(), lease.epoch(), hash, crypter.secrets_provider());
        header.command.clone_from(&options.command);
        let environment = options.environment.clone();
        let seal = RunningSeal::of(stack, &before);
        let journal = JournalWriter::new(Arc::clone(&lease), header, seal, crypter.clone(), environment.clone());
        let envelope = Mutex::new(checkpoint);
        let marked = AtomicBool::new(marked);
        let store = Store { stack: stack.clone(), lease, journal, envelope, marked, before, options };
        Ok(Self { snapshot, notices, crypter: Some(crypter), store: Some(store), environment, lock_wait: None })
    }

    /// The machine that the operation runs on.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// What the sole right to write took; `None` for a session that does not write.
    #[must_use]
    pub fn lock_wait(&self) -> Option<LockWait> {
        self.lock_wait
    }

    /// What the user should know about the opening: an interrupted run that was recovered, and the like.
    #[must_use]
    pub fn notices(&self) -> &[Message] {
        &self.notices
    }

    /// The resources as they were when the session was opened, secrets decrypted.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Takes code in the place of provider objects for that of the process that called the command line, whose inline program
    /// this is a run of; otherwise it is another tool's, and never run.
    ///
    /// # Errors
    /// A wrong key.
    pub fn recognise_code_of_caller(&mut self) -> Result<()> {
        self.crypter.as_ref().map_or(Ok(()), |crypter| self.snapshot.recognise_code_of_caller(crypter))
    }

    /// Is something with the stack not finished, which this session's [`compact`](Session::compact) will finish?
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.store.as_ref().is_some_and(|store| store.marked.load(Ordering::SeqCst))
    }

    /// Marks the stack as one with which something is not finished until this session's [`compact`](Session::compact). Nothing
    /// may be appended then.
    pub async fn mark(&self, unfinished: &UnfinishedCommand) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        if !store.marked.swap(true, Ordering::SeqCst) {
            unfinished.put_on(&*store.lease).await?;
        }
        Ok(())
    }

    /// Appends changes to the journal, as one record. The records of concurrent callers share a flush; their order is
    /// that of the calls.
    pub fn append(&self, changes: Vec<Change>) -> Durability {
        self.send(changes, false)
    }

    /// Like [`Session::append`], for changes whose durability nobody waits for: they may wait a moment
    /// ([`Environment::linger`]) for those of the next call, to share a flush.
    pub fn append_with_next(&self, changes: Vec<Change>) -> Durability {
        self.send(changes, true)
    }

    fn send(&self, changes: Vec<Change>, patient: bool) -> Durability {
        let Some(store) = &self.store else { return Durability::known(Ok(())) };
        // With a wrong passphrase nothing is begun: what it led to could not be written.
        match store.options.crypter.verify() {
            Ok(()) => store.send(Record::Changes(changes), patient),
            Err(error) => Durability::known(Err(error)),
        }
    }

    /// Compacts the journal: the snapshot becomes the checkpoint, the journal is removed and the lock released. The
    /// checkpoint is not written when the snapshot says what it says already. Members of the file that `snapshot` does
    /// not mention (`other` is empty) stay as they were. Says whether anything was written for the operation, to the
    /// journal or to the checkpoint.
    pub async fn compact(&self, snapshot: Snapshot) -> Result<bool> {
        let (written, broken) = self.write(snapshot).await?;
        self.finish().await?;
        broken.map_or(Ok(written), Err)
    }

    /// The first half of a [`compact`](Session::compact): all is written, and the journal, or a mark in its place, stays until
    /// [`finish`](Session::finish). Says whether anything was written, and what is wrong with what was.
    pub async fn write(&self, mut snapshot: Snapshot) -> Result<(bool, Option<Error>)> {
        let Some(store) = &self.store else { return Ok((false, None)) };
        fail_points::kill("kill::before-fold");
        let used = store.journal.is_used();
        if snapshot.other.is_empty() {
            snapshot.other.clone_from(&self.snapshot.other);
        }
        let mut broken = None;
        let mut in_journal = used;
        let differs = !Comparison::new(self.crypter.as_ref()).says_the_same(&self.snapshot, &snapshot);
        if differs {
            snapshot.resources = canonical(&snapshot.resources);
            snapshot.stamp(&store.options.environment);
            let (bytes, violation) = store.encode(snapshot)?;
            broken = violation.as_deref().map(unsound);
            let checkpoint = HashedCheckpoint::new(&bytes);
            if used {
                let written = store.send(Record::Compaction(checkpoint.hash.clone()), false);
                // A journal that cannot be written any more does not keep the checkpoint from being written.
                in_journal = written.await.is_ok();
                fail_points::kill("kill::after-fold-record");
            }
            store.journal.close().await;
            let replaced = store.replace(checkpoint).await;
            if in_journal {
                replaced.map_err(in_the_journal)?;
            } else {
                replaced?;
            }
        }
        store.journal.close().await;
        if used && !differs {
            store.take_note_away().await?;
        }
        Ok((used || differs, broken))
    }

    /// The second half of a [`compact`](Session::compact): the journal, or a mark in its place, is removed, and the lock released.
    pub async fn finish(&self) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        if store.journal.is_used() || store.marked.load(Ordering::SeqCst) {
            store.lease.remove_journal().await?;
        }
        fail_points::kill("kill::before-release");
        store.lease.release().await?;
        fail_points::kill("kill::after-release");
        Ok(())
    }

    /// Ends the session without a compaction (a second Ctrl-C): what was appended is made durable, the journal stays for the
    /// next run. The lock goes, unless a journal is left: then no other tool may take the checkpoint for the truth, and
    /// the next run of maloko removes the lock itself.
    pub async fn abandon(&self) -> Result<()> {
        let Some(store) = &self.store else { return Ok(()) };
        store.journal.close().await;
        store.lease.release().await
    }
}

/// What was appended is finished; then the lease is dropped, and with it given back.
impl Drop for Session {
    fn drop(&mut self) {
        if let Some(store) = &self.store {
            store.journal.stop();
        }
    }
}

/// The text inside a sealed `__provider`, decrypted (each distinct ciphertext once): for one of our references, its JSON.
pub(crate) fn unseal(crypter: Option<&Crypter>, ciphertext: &str) -> Result<String> {
    let crypter = crypter.ok_or_else(|| {
        Error::Secrets("a secret of the state is needed, and no passphrase was given to read it".into())
    })?;
    let json = crypter.decrypt(ciphertext)?;
    Ok(serde_json::from_str(&json).unwrap_or_else(|_| json.to_string()))
}

/// What is reported once the state that it speaks of is safe.
fn unsound(violation: &str) -> Error {
    Error::BadState(message![
        format!(
            "the state that this run leaves is not sound: {violation}. It was saved, and nothing is lost; this is a bug \
             in maloko. "
        ),
        Command::new("state repair"),
        " can mend the state"
    ])
}

/// A state that could not be written is not lost: its journal holds all of it.
fn in_the_journal(error: Error) -> Error {
    match error {
        Error::Io { context, source } => Error::Io {
            context: format!(
                "what this run did is recorded in its journal, and the next command takes it up from there; the state itself \
                 could not be written: {context}"
            ),
            source,
        },
        other => other,
    }
}

impl Store {
    fn send(&self, record: Record, patient: bool) -> Durability {
        let (reply, answer) = oneshot::channel();
        let number = self.journal.send(record, patient, reply);
        Durability::waiting(answer, number, self.journal.progress())
    }

    async fn replace(&self, checkpoint: HashedCheckpoint<'_>) -> Result<()> {
        let (sealer, crypter) = (Sealer { stack: &self.stack, options: &self.options }, &self.options.crypter);
        sealer.replace(&*self.lease, &self.before, checkpoint, crypter, crypter).await.map(drop)
    }

    /// The seal says of no journal any more that it has to be there.
    async fn take_note_away(&self) -> Result<()> {
        let Some(seal) = RunningSeal::of(&self.stack, &self.before) else { return Ok(()) };
        self.lease.write_seal(&seal.encode(None, self.options.crypter.seal_key()?)?).await
    }

    /// The text of the checkpoint, and what is not sound in it, which it says itself as well.
    fn encode(&self, snapshot: Snapshot) -> Result<(Vec<u8>, Option<String>)> {
        let mut envelope = self.envelope.lock().unwrap_or_else(PoisonError::into_inner);
        envelope.snapshot = snapshot;
        let crypter = &self.options.crypter;
        if !self.options.check_integrity {
            return Ok((envelope.encode(crypter)?, None));
        }
        let metadata = envelope.snapshot.other.entry("metadata").or_insert_with(|| json!({}));
        if let Some(metadata) = metadata.as_object_mut() {
            metadata.shift_remove("integrity_error");
        }
        let is_long = envelope.snapshot.resources.len() >= MANY_RESOURCES;
        let (bytes, checked) = side_by_side(is_long, || envelope.encode(crypter), || check(&envelope.snapshot));
        let Err(violation) = checked else { return Ok((bytes?, None)) };
        envelope.snapshot.other["metadata"] = json!({ "integrity_error": {
            "version": concat!("v", env!("CARGO_PKG_VERSION")),
            "command": self.options.command,
            "error": violation,
            "env_vars": {},
        }});
        Ok((envelope.encode(crypter)?, Some(violation)))
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
