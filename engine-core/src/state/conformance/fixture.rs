//! What the cases are written with.

use std::fmt;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::state::backend::{Backend, Lease};
use crate::state::name::StackName;

use super::Store;

/// Why a case failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseFailure(String);

/// What a case ends with.
pub(super) type Outcome = std::result::Result<(), CaseFailure>;

impl CaseFailure {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for CaseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CaseFailure {}

impl From<Error> for CaseFailure {
    fn from(error: Error) -> Self {
        Self(format!("an error that was not expected: {error}"))
    }
}

/// Fails the case, with what is said, unless the condition holds.
macro_rules! check {
    ($condition:expr, $($said:tt)+) => {
        if !$condition {
            return Err($crate::state::conformance::fixture::CaseFailure::new(format!($($said)+)));
        }
    };
}
pub(super) use check;

/// A first checkpoint. Stores do not read what they keep, so it need not be one.
pub(super) const FIRST: &[u8] = br#"{"version":3,"checkpoint":{"latest":{"first":true}}}"#;
/// Another one.
pub(super) const SECOND: &[u8] = br#"{"version":3,"checkpoint":{"latest":{"second":true}}}"#;
/// As many generations as every store keeps.
pub(super) const KEEP: usize = 3;

/// An empty store, and the machines that use it.
pub(super) struct Bench(Box<dyn Store>);

impl Bench {
    pub(super) fn new(store: Box<dyn Store>) -> Self {
        Self(store)
    }

    /// One more machine.
    pub(super) async fn machine(&self) -> Result<Arc<dyn Backend>> {
        self.0.machine().await
    }

    /// Loses the checkpoint of a stack; false where that cannot be.
    pub(super) async fn lose_checkpoint(&self, stack: &StackName) -> Result<bool> {
        self.0.lose_checkpoint(stack).await
    }

    /// A machine, and the stack `dev` in the store.
    pub(super) async fn with_stack(&self) -> Result<(Arc<dyn Backend>, StackName)> {
        let machine = self.machine().await?;
        let stack = name("shop", "dev")?;
        machine.create(&stack, FIRST).await?;
        Ok((machine, stack))
    }
}

pub(super) fn name(project: &str, stack: &str) -> Result<StackName> {
    StackName::new(project, stack)
}

/// The error of something that must not work.
pub(super) fn refused<T>(what: &str, result: Result<T>) -> std::result::Result<Error, CaseFailure> {
    match result {
        Ok(_) => Err(CaseFailure::new(format!("{what} worked, and should have been refused"))),
        Err(error) => Ok(error),
    }
}

/// Something must be refused because there is no such stack: nothing else is "missing".
pub(super) fn no_stack<T>(what: &str, result: Result<T>) -> Outcome {
    let error = refused(what, result)?;
    check!(matches!(error, Error::NoStack { .. }), "{what} should say that there is no such stack, and says: {error}");
    Ok(())
}

/// Something must be refused because another one holds the lease, or took it. Gives the message.
pub(super) fn locked<T>(what: &str, result: Result<T>) -> std::result::Result<String, CaseFailure> {
    let error = refused(what, result)?;
    check!(
        matches!(error, Error::InUse { .. } | Error::Locked(_)),
        "{what} should say that the stack is locked, and says: {error}"
    );
    Ok(error.to_string())
}

/// A stack that was removed in the meantime is as good a reason to refuse as a lock that is lost.
pub(super) fn lost<T>(what: &str, result: Result<T>) -> Outcome {
    let error = refused(what, result)?;
    check!(
        matches!(error, Error::InUse { .. } | Error::Locked(_) | Error::NoStack { .. }),
        "{what} should say that the lock was lost, and says: {error}"
    );
    Ok(())
}

/// The checkpoint, the journal and the seal of a stack, as this machine sees them.
pub(super) async fn content(machine: &dyn Backend, stack: &StackName) -> Result<Content> {
    let stored = machine.load(stack).await?;
    Ok(Content { checkpoint: stored.checkpoint, journal: stored.journal, seal: stored.seal })
}

/// What is stored of a stack, without the places.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) checkpoint: Vec<u8>,
    pub(super) journal: Option<Vec<u8>>,
    pub(super) seal: Option<Vec<u8>>,
}

/// Short: what is stored may be long.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |bytes: &[u8]| match bytes.len() {
            0..=200 => format!("\"{}\"", bytes.escape_ascii()),
            many => format!("{many} bytes"),
        };
        let part = |bytes: &Option<Vec<u8>>| bytes.as_deref().map_or("none".to_owned(), shown);
        write!(f, "checkpoint {}, journal {}, seal {}", shown(&self.checkpoint), part(&self.journal), part(&self.seal))
    }
}

/// The stack must hold just that.
pub(super) async fn holds(machine: &dyn Backend, stack: &StackName, expected: &Content, when: &str) -> Outcome {
    let found = content(machine, stack).await?;
    check!(found == *expected, "{when}: expected {expected:?}, found {found:?}");
    Ok(())
}

/// Bytes that look random and are the same every time: `seed` picks which.
pub(super) fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        // Xorshift: enough to be neither compressible nor text.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// A lease for the operation `up`.
pub(super) async fn lease(machine: &dyn Backend, stack: &StackName) -> Result<Arc<dyn Lease>> {
    machine.lease(stack, "up").await
}
