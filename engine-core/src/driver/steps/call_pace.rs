//! How quick the calls of a run are: by that it is decided how far ahead of them their records are written.

use std::time::Duration;

use atomic_refcell::AtomicRefCell;

use crate::driver::permits::Permits;

/// The most intents that are written ahead. A killed run leaves them unresolved, although their calls were not made; with
/// fewer, runs of many small calls would wait for the disk.
pub(super) const AHEAD: usize = 64;
/// Calls are quick when they take less than this in the mean, their wait for the program's own thread included.
const QUICK: Duration = Duration::from_millis(100);
/// The mean while no call has ended.
const UNKNOWN: u64 = u64::MAX;

/// How quick the calls of a run are, and which are next.
pub(crate) struct WriteAheadPace {
    /// One permit for each call that comes next.
    pub(crate) next: Permits,
    /// How long the latest calls took, in microseconds; later ones count for more.
    mean: AtomicRefCell<u64>,
    /// Is there more than one turn? With one, everything happens one after the other.
    side_by_side: bool,
}

impl WriteAheadPace {
    pub(crate) fn new(parallel: usize) -> Self {
        Self { next: Permits::new(AHEAD), mean: AtomicRefCell::new(UNKNOWN), side_by_side: parallel > 1 }
    }

    pub(super) fn is_quick(&self) -> bool {
        self.side_by_side && Duration::from_micros(*self.mean.borrow()) < QUICK
    }

    pub(crate) fn note(&self, took: Duration) {
        let took = u64::try_from(took.as_micros()).unwrap_or(UNKNOWN - 1);
        let mut mean = self.mean.borrow_mut();
        *mean = if *mean == UNKNOWN { took } else { *mean - *mean / 8 + took / 8 };
    }
}

#[cfg(test)]
#[path = "call_pace_tests.rs"]
mod tests;
