//! Tells the user that a store does not answer, while it is waited for: else a command that waits looks like one that
//! hangs.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use crate::Notify;

/// How long a request may take before somebody wonders.
const USUAL: Duration = Duration::from_secs(5);
/// How long nothing more is said after it was said once: many requests may wait at a time.
const PAUSE: Duration = Duration::from_secs(30);

/// What is said about a store that does not answer.
pub(crate) struct SlowNotice {
    /// The store, for messages.
    place: String,
    notify: Notify,
    usual: Duration,
    pause: Duration,
    told: Mutex<Option<Instant>>,
}

impl SlowNotice {
    pub(crate) fn new(place: &str, notify: Notify) -> Self {
        Self { place: place.to_owned(), notify, usual: USUAL, pause: PAUSE, told: Mutex::new(None) }
    }

    /// Awaits an answer of the store. Called on a runtime of tokio that has its clock.
    pub(crate) async fn watch<T>(&self, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        match timeout(self.usual, &mut answer).await {
            Ok(done) => done,
            Err(_) => {
                self.tell();
                answer.await
            }
        }
    }

    fn tell(&self) {
        {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if told.is_some_and(|told| told.elapsed() < self.pause) {
                return;
            }
            *told = Some(Instant::now());
        }
        (self.notify)(&format!("no answer from {} for {} seconds; still trying", self.place, self.usual.as_secs()));
    }
}

impl fmt::Debug for SlowNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Silence").field("place", &self.place).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "silence_tests.rs"]
mod tests;
