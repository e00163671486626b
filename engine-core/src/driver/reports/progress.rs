//! How far a run has come, in numbers: for those who want to know that it goes on, and not what happens in it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::operation::{Operation, OperationKind};
use crate::state::Snapshot;
use crate::urn::Urn;

/// How far a run has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Steps that are done, as the summary of the run counts them.
    pub done: u64,
    /// The steps that are known so far: an update learns of them as the program registers resources, a refresh and a destroy have them
    /// in the state.
    pub total: u64,
    /// Resources that failed or were refused.
    pub failed: u64,
    /// The provider calls that have gone on for the longest time, the longest first.
    pub slowest: Vec<SlowCall>,
}

/// A provider call that goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowCall {
    /// The resource.
    pub urn: Urn,
    /// The method, such as `create`.
    pub method: &'static str,
    /// How long it has gone on.
    pub time: Duration,
}

/// The counts of a run. It counts them where things happen anyway, and anybody may read them without it.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    expected: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
}

impl Counts {
    /// The counts of a run that goes on from this state.
    pub(crate) fn new(operation: &Operation, base: &Snapshot) -> Self {
        let counts = Self::default();
        counts.expect(match operation.kind {
            OperationKind::Refresh | OperationKind::Destroy => {
                base.resources.iter().filter(|resource| !resource.urn.is_default_provider()).count()
            }
            OperationKind::Import => operation.adoptions.len(),
            OperationKind::Update | OperationKind::Load => 0,
        });
        counts
    }

    /// So many more steps are known.
    pub(crate) fn expect(&self, steps: usize) {
        // No machine has that many.
        self.expected.fetch_add(u64::try_from(steps).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// A step is done.
    pub(crate) fn count_done(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// A resource failed, or was refused.
    pub(crate) fn count_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts now, with these calls.
    pub(crate) fn with_calls(&self, slowest: Vec<SlowCall>) -> Progress {
        let done = self.done.load(Ordering::Relaxed);
        let failed = self.failed.load(Ordering::Relaxed);
        // Some steps are known only when they are over, such as those of what a selection leaves as it is.
        let total = self.expected.load(Ordering::Relaxed).max(done + failed);
        Progress { done, total, failed, slowest }
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
