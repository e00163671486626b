//! The records on their way to the worker that writes the journal. The worker is woken when it has to do something, and not
//! for each record: a run has many in the time of one flush.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::journal_record::Job;

/// See the module's text.
#[derive(Default)]
pub(super) struct JournalQueue(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    jobs: Vec<Job>,
    /// Is somebody waiting for one of them?
    urgent: bool,
    /// How many were handed over.
    sent: u64,
    /// Nothing comes any more, or nobody takes it.
    closed: bool,
    waiting: Option<(For, Waker)>,
}

/// What the worker waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum For {
    Any,
    Urgent,
}

impl JournalQueue {
    /// Hands a record over, which `make` makes of its number, from 1. The records keep the order of their numbers.
    pub(super) fn push(&self, make: impl FnOnce(u64) -> Job) -> u64 {
        let mut inner = self.lock();
        inner.sent += 1;
        let job = make(inner.sent);
        if inner.closed {
            // The worker is gone; that its reply is dropped tells those who wait.
            return inner.sent;
        }
        inner.urgent |= !job.patient;
        inner.jobs.push(job);
        let number = inner.sent;
        let urgent = inner.urgent;
        let waiting = inner.waiting.take_if(|(what, _)| *what == For::Any || urgent);
        drop(inner);
        if let Some((_, waker)) = waiting {
            waker.wake();
        }
        number
    }

    /// All records that are there, once there are any; `None` when nothing comes any more.
    pub(super) async fn take(&self) -> Option<Vec<Job>> {
        poll_fn(|task| self.poll(For::Any, task)).await;
        let jobs = self.take_now();
        (!jobs.is_empty()).then_some(jobs)
    }

    /// Resolves when there is a record that somebody waits for, or when nothing comes any more.
    pub(super) async fn urgent(&self) {
        poll_fn(|task| self.poll(For::Urgent, task)).await;
    }

    /// The records that are there.
    pub(super) fn take_now(&self) -> Vec<Job> {
        let mut inner = self.lock();
        inner.urgent = false;
        std::mem::take(&mut inner.jobs)
    }

    /// Nothing comes any more.
    pub(super) fn close(&self) {
        let waiting = {
            let mut inner = self.lock();
            inner.closed = true;
            inner.waiting.take()
        };
        if let Some((_, waker)) = waiting {
            waker.wake();
        }
    }

    fn poll(&self, what: For, task: &Context<'_>) -> Poll<()> {
        let mut inner = self.lock();
        let there = if what == For::Any { !inner.jobs.is_empty() } else { inner.urgent };
        if there || inner.closed {
            return Poll::Ready(());
        }
        inner.waiting = Some((what, task.waker().clone()));
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "journal_queue_tests.rs"]
mod tests;
