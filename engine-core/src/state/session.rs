//! A stack's state as one operation uses it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::error::{Error, Result};

use super::backend::Backend;
use super::name::StackName;
use super::secrets::Crypter;
use super::surroundings::Surroundings;
use super::{Change, Snapshot};

/// Becomes ready when the changes that it was given for are durable; may be dropped when nobody needs to know.
pub struct Ticket {
    inner: Pin<Box<dyn Future<Output = Result<()>> + Send>>,
}

impl Future for Ticket {
    type Output = Result<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.inner.as_mut().poll(context)
    }
}

/// How a session is opened.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Encrypts what is written. Reads it too, unless the state was written with another salt: then the same
    /// passphrase with that salt.
    pub crypter: Crypter,
    /// Clock and randomness.
    pub surroundings: Surroundings,
    /// Check the state's integrity (off: `--disable-integrity-checking`).
    pub check_integrity: bool,
    /// The command's name, noted in the state when it is written although its integrity is broken.
    pub command: String,
}

/// A stack's state, read without a lease.
#[derive(Clone, Debug, Default)]
pub struct StackReading {
    /// The rows; secrets are sealed until [`Snapshot::unseal`].
    pub snapshot: Snapshot,
    /// What the user should know: an interrupted run whose journal was taken into account, and the like.
    pub notices: Vec<String>,
}

/// Reads a stack without a lease: for previews and for commands that only show. The journal of a run that was killed
/// is taken into account, but not folded.
pub async fn read_stack(_backend: &dyn Backend, _stack: &StackName, _check_integrity: bool) -> Result<StackReading> {
    Err(Error::BadState("not built yet".into()))
}

/// Makes an empty stack.
pub async fn create_stack(
    _backend: &dyn Backend,
    _stack: &StackName,
    _crypter: &Crypter,
    _surroundings: &Surroundings,
) -> Result<()> {
    Err(Error::BadState("not built yet".into()))
}

/// The state of a stack, opened for one operation.
pub struct Session {
    snapshot: Snapshot,
    notices: Vec<String>,
}

impl Session {
    /// A session that keeps nothing: for previews, and for tests that hand in the rows.
    #[must_use]
    pub fn read_only(snapshot: Snapshot) -> Self {
        Self { snapshot, notices: Vec::new() }
    }

    /// A session that keeps nothing, for previews of a real stack: seals and unseals with `crypter`.
    #[must_use]
    pub fn preview(snapshot: Snapshot, _crypter: Crypter) -> Self {
        Self { snapshot, notices: Vec::new() }
    }

    /// Opens a stack for writing: takes the lease, reads the checkpoint, recovers what a killed run left behind.
    pub async fn open(_backend: &dyn Backend, _stack: &StackName, _options: SessionOptions) -> Result<Self> {
        Err(Error::BadState("not built yet".into()))
    }

    /// What the user should know about the opening: an interrupted run that was recovered, and the like.
    #[must_use]
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// The rows as they were when the session was opened, secrets decrypted.
    #[must_use]
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Appends changes to the journal, as one record. The records of concurrent callers share a flush.
    pub fn append(&self, _changes: &[Change]) -> Ticket {
        Ticket { inner: Box::pin(std::future::ready(Ok(()))) }
    }

    /// The text inside a sealed `__provider`, decrypted (each distinct ciphertext once).
    pub fn unseal(&self, _ciphertext: &str) -> Result<String> {
        Ok(String::new())
    }

    /// Folds the journal: the snapshot becomes the checkpoint, the journal is removed and the lock released.
    pub async fn fold(&self, _snapshot: Snapshot) -> Result<()> {
        Ok(())
    }

    /// Ends the session without a fold (a second Ctrl-C): what was appended is made durable, the journal stays for the
    /// next run, the lock goes.
    pub async fn abandon(&self) -> Result<()> {
        Ok(())
    }
}
