//! Time that passes when a test says so, or when everybody waits for it.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use jiff::Timestamp;
use maloko_core::environment::Clock;

/// The time at which a stack's clock begins: 2026-01-01, in seconds.
const BEGINNING: i64 = 1_767_225_600;
/// So long (of real time) nothing must have happened before time is moved for those who wait.
const STILLNESS: Duration = Duration::from_millis(2);
/// The clock stands still until every timer that is due has been polled: at most this many times [`STILLNESS`], because
/// some timers are never polled.
const NOTICE: u32 = 500;
/// A call that hangs without a limit is given up after this time of the clock.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A clock. Clones are the same clock.
#[derive(Clone)]
pub struct VirtualClock {
    time: Arc<Mutex<Time>>,
    base: Instant,
}

#[derive(Default)]
struct Time {
    elapsed: Duration,
    timers: BTreeMap<(Duration, u64), Alarm>,
    next: u64,
    /// Timers that are over, of which those who wait have not taken note yet.
    unseen: usize,
    /// Calls that run user code, which takes its own time.
    working: usize,
    /// Rises with everything that happens.
    events: u64,
}

struct Alarm {
    waker: Option<Waker>,
    wish: Wish,
}

/// Is time to be moved for a timer's sake, when nobody has anything else to do?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// No: it only watches.
    None,
    /// Yes.
    Next,
    /// When there is no other that is wanted; the time alone does not end it.
    Last,
}

impl Default for VirtualClock {
    fn default() -> Self {
        Self { time: Arc::default(), base: Instant::now() }
    }
}

impl VirtualClock {
    fn time(&self) -> MutexGuard<'_, Time> {
        // Whole after every statement, so a panic elsewhere does not spoil it.
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass: whoever waits for a moment until then goes on, in the order of the moments.
    pub fn advance(&self, by: Duration) {
        let mut time = self.time();
        time.elapsed = time.elapsed.saturating_add(by);
        let due = take_due(&mut time);
        drop(time);
        due.into_iter().for_each(Waker::wake);
    }

    /// The present as the engine measures it.
    #[must_use]
    pub fn instant(&self) -> Instant {
        self.base + self.time().elapsed
    }

    /// Resolves at that distance.
    pub(crate) fn timer(&self, time: Duration, wish: Wish) -> BoxFuture<'static, ()> {
        let mut inner = self.time();
        let at = if wish == Wish::Last { Duration::MAX } else { inner.elapsed.saturating_add(time) };
        let key = (at, inner.next);
        inner.next += 1;
        inner.events += 1;
        inner.timers.insert(key, Alarm { waker: None, wish });
        drop(inner);
        Box::pin(Timer { clock: self.clone(), key, seen: false })
    }

    /// Resolves once everybody whose time has come knows it: an answer that came later must not be taken first.
    pub(crate) async fn seen(&self) {
        while self.time().unseen > 0 {
            maloko_core::environment::timer::wait(STILLNESS).await;
        }
    }

    /// Held while user code runs.
    pub(crate) fn work(&self) -> Work {
        let mut time = self.time();
        time.working += 1;
        time.events += 1;
        drop(time);
        Work(self.clone())
    }

    /// Moves time to the next timer whenever nothing happens and somebody wants it. Ends when it is dropped.
    pub(crate) async fn keep_going(self) {
        let mut unnoticed = 0;
        loop {
            let before = self.time().events;
            maloko_core::environment::timer::wait(STILLNESS).await;
            let mut time = self.time();
            if time.events != before || time.working > 0 {
                continue;
            }
            if time.unseen > 0 && unnoticed < NOTICE {
                unnoticed += 1;
                continue;
            }
            unnoticed = 0;
            let of = |time: &Time, wish| time.timers.iter().find(|(_, it)| it.wish == wish).map(|(key, _)| *key);
            let due = if let Some((at, _)) = of(&time, Wish::Next) {
                time.elapsed = time.elapsed.max(at);
                take_due(&mut time)
            } else if let Some(last) = of(&time, Wish::Last) {
                time.elapsed = time.elapsed.saturating_add(PATIENCE);
                let mut due = take_due(&mut time);
                due.extend(take(&mut time, last));
                due
            } else {
                continue;
            };
            drop(time);
            due.into_iter().for_each(Waker::wake);
        }
    }
}

fn take_due(time: &mut Time) -> Vec<Waker> {
    let keys: Vec<(Duration, u64)> =
        time.timers.keys().take_while(|(at, _)| *at <= time.elapsed && *at < Duration::MAX).copied().collect();
    keys.into_iter().filter_map(|key| take(time, key)).collect()
}

/// Ends a timer; gives whom to wake.
fn take(time: &mut Time, key: (Duration, u64)) -> Option<Waker> {
    let alarm = time.timers.remove(&key)?;
    time.events += 1;
    time.unseen += 1;
    alarm.waker
}

/// User code runs.
pub(crate) struct Work(VirtualClock);

impl Drop for Work {
    fn drop(&mut self) {
        let mut time = self.0.time();
        time.working -= 1;
        time.events += 1;
    }
}

struct Timer {
    clock: VirtualClock,
    key: (Duration, u64),
    seen: bool,
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let key = self.key;
        let clock = self.clock.clone();
        let mut time = clock.time();
        if let Some(alarm) = time.timers.get_mut(&key) {
            alarm.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        if !self.seen {
            self.seen = true;
            time.unseen -= 1;
        }
        Poll::Ready(())
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let mut time = self.clock.time();
        if time.timers.remove(&self.key).is_none() && !self.seen {
            time.unseen -= 1;
        }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        let beginning = Timestamp::from_second(BEGINNING).unwrap_or_default();
        beginning.saturating_add(self.time().elapsed).unwrap_or(beginning)
    }

    fn elapsed(&self) -> Duration {
        self.time().elapsed
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        self.timer(time, Wish::Next)
    }
}

#[cfg(test)]
#[path = "clock_tests.rs"]
mod tests;
