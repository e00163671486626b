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
    pub(super) fn begin(environment: &Environment) -> LockRequest {
        let clock = Arc::clone(&environment.clock);
        LockRequest { began: clock.now().into(), at: clock.elapsed(), clock }
    }
}

/// A lock that was asked for.
pub(super) struct LockRequest {
    began: SystemTime,
    at: Duration,
    clock: Arc<dyn Clock>,
}

impl LockRequest {
    /// It is there.
    pub(super) fn end(self) -> LockWait {
        LockWait { began: self.began, took: self.clock.elapsed().saturating_sub(self.at) }
    }
}
