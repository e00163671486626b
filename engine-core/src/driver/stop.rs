//! Whether a run goes on, and what is still in flight when it does not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::sync::{Notify, watch};

use crate::event::Outcome;
use crate::provider::HostError;
use crate::urn::Urn;

/// The first thing that went wrong.
#[derive(Clone, Default)]
pub(super) struct Failure {
    pub(super) message: String,
    pub(super) source: Option<HostError>,
    /// The resource that it is about.
    pub(super) urn: Option<Urn>,
    /// The provider's method that failed.
    pub(super) method: Option<&'static str>,
}

impl Failure {
    /// Nothing is known but what went wrong.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }
}

/// Ends a run, once, and knows when all of its requests are answered.
pub(super) struct Stop {
    halted: watch::Sender<bool>,
    cancelled: std::sync::atomic::AtomicBool,
    failure: Mutex<Option<Failure>>,
    in_flight: AtomicUsize,
    idle: Notify,
}

impl Default for Stop {
    fn default() -> Self {
        Self {
            halted: watch::Sender::new(false),
            cancelled: std::sync::atomic::AtomicBool::new(false),
            failure: Mutex::new(None),
            in_flight: AtomicUsize::new(0),
            idle: Notify::new(),
        }
    }
}

/// Held while a request is answered.
pub(super) struct Flight<'a>(&'a Stop);

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if self.0.in_flight.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

impl Stop {
    pub(super) fn enter(&self) -> Flight<'_> {
        self.in_flight.fetch_add(1, Ordering::AcqRel);
        Flight(self)
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Acquire)
    }

    /// Has the run been stopped?
    pub(super) fn is_halted(&self) -> bool {
        *self.halted.borrow()
    }

    /// Notes a failure; the first one is kept. `halt` says whether the run ends with it.
    pub(super) fn fail(&self, failure: Failure, halt: bool) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        drop(first);
        if halt {
            self.halted.send_replace(true);
        }
    }

    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Release);
        self.halted.send_replace(true);
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn outcome(&self) -> Outcome {
        if self.cancelled.load(Ordering::Acquire) {
            Outcome::Cancelled
        } else if self.failure().is_some() {
            Outcome::Failed
        } else {
            Outcome::Succeeded
        }
    }

    /// Resolves when the run is stopped.
    pub(super) async fn wait(&self) {
        let mut halted = self.halted.subscribe();
        // The sender lives as long as `self`, so the channel cannot close.
        let _ = halted.wait_for(|halted| *halted).await;
    }

    /// Resolves when no request is being answered.
    pub(super) async fn idle(&self) {
        loop {
            let idle = self.idle.notified();
            if self.in_flight() == 0 {
                return;
            }
            idle.await;
        }
    }
}
