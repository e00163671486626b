//! Work that is done at once, by whoever gives it something to do: in memory nothing waits, and a thread or task of its own
//! would cost more than the work. It also makes the order of writes that of the requests, in every run.

use std::io;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures::future::BoxFuture;
use maloko_core::environment::{Worker, Workers};

/// See the module's text.
pub(crate) struct Inline;

impl Workers for Inline {
    fn start(&self, _name: &str, work: BoxFuture<'static, ()>) -> io::Result<Box<dyn Worker>> {
        let task = Arc::new(Task { work: Mutex::new(Some(work)), phase: AtomicU8::new(IDLE) });
        task.wake();
        Ok(Box::new(InlineWorker))
    }
}

struct InlineWorker;

impl Worker for InlineWorker {
    /// Whoever ended the work has done what was left of it.
    fn join(self: Box<Self>) {}
}

const IDLE: u8 = 0;
const RUNNING: u8 = 1;
const RUNNING_AND_WOKEN: u8 = 2;

struct Task {
    work: Mutex<Option<BoxFuture<'static, ()>>>,
    phase: AtomicU8,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let next = |phase| Some(if phase == IDLE { RUNNING } else { RUNNING_AND_WOKEN });
        if self.phase.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) != Ok(IDLE) {
            // Whoever works on it goes on.
            return;
        }
        let waker = Waker::from(Arc::clone(&self));
        loop {
            let mut slot = self.work.lock().unwrap_or_else(PoisonError::into_inner);
            let ended = slot
                .as_mut()
                .is_none_or(|work| matches!(work.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(())));
            if ended {
                *slot = None;
            }
            drop(slot);
            let next = |phase| Some(if phase == RUNNING_AND_WOKEN { RUNNING } else { IDLE });
            if self.phase.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(RUNNING) {
                return;
            }
        }
    }
}

#[cfg(test)]
#[path = "inline_tests.rs"]
mod tests;
