//! How long an operation waited for its stack.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::environment::{Clock, Environment};

/// What it took to get the sole right to write to a stack.
#[derive(Clone, Copy, Debug)]
pub struct LockWait {
    /// When it was asked for, by the wall clock.
    pub began: SystemTime,
    /// How long that took.
    pub took: Duration,
}

impl LockWait {
    /// It is asked for now.
    pub(super) fn begin(environment: &Environment) -> Asked {
        let clock = Arc::clone(&environment.clock);
        Asked { began: clock.now().into(), at: clock.elapsed(), clock }
    }
}

/// A right that was asked for.
pub(super) struct Asked {
    began: SystemTime,
    at: Duration,
    clock: Arc<dyn Clock>,
}

impl Asked {
    /// It is there.
    pub(super) fn end(self) -> LockWait {
        LockWait { began: self.began, took: self.clock.elapsed().saturating_sub(self.at) }
    }
}
