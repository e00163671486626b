//! Timers that go on working in a process that was forked off: the thread that keeps them is of one process only, and each
//! process makes its own.
//!
//! Web servers and task queues import everything, perhaps run a stack, and fork then. The threads of a library that keeps
//! timers stay behind in the parent, so whoever waits in the child would wait for ever.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, TryLockError, Weak};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use futures::task::AtomicWaker;

use crate::environment::platform::OwnProcess;

/// The time by which timers ring.
#[must_use]
pub fn now() -> Instant {
    Instant::now()
}

/// The way to this process's keeper of timers.
static KEEPER: Mutex<Option<Keeper>> = Mutex::new(None);
/// How often the way is tried: it is taken for moments only, or for ever by a thread that a fork left behind.
const ATTEMPTS: u32 = 1000;

struct Keeper {
    owner: OwnProcess,
    alarms: Sender<Alarm>,
}

struct Alarm {
    at: Instant,
    /// Gone when nobody waits any more.
    bell: Weak<Bell>,
}

#[derive(Default)]
struct Bell {
    has_rung: AtomicBool,
    waiting: AtomicWaker,
}

impl Bell {
    fn ring(&self) {
        self.has_rung.store(true, Ordering::Release);
        self.waiting.wake();
    }
}

struct Wait(Arc<Bell>);

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.waiting.register(context.waker());
        if self.0.has_rung.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Resolves after a time.
#[must_use]
pub fn wait(time: Duration) -> BoxFuture<'static, ()> {
    let bell = Arc::new(Bell::default());
    // What lasts longer than the clock can say lasts for ever.
    if let Some(at) = Instant::now().checked_add(time) {
        let alarm = Alarm { at, bell: Arc::downgrade(&bell) };
        if let Err(alarm) = hand_over(alarm) {
            keep_one(&alarm);
        }
    }
    Box::pin(Wait(bell))
}

/// Hands an alarm to this process's keeper, which begins with the first one; gives it back where that is not possible.
fn hand_over(alarm: Alarm) -> Result<(), Alarm> {
    for _ in 0..ATTEMPTS {
        let mut keeper = match KEEPER.try_lock() {
            Ok(keeper) => keeper,
            Err(TryLockError::Poisoned(keeper)) => keeper.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::yield_now();
                continue;
            }
        };
        if keeper.as_ref().is_none_or(|keeper| !keeper.owner.is_here()) {
            let (alarms, received) = channel();
            let thread = std::thread::Builder::new().name("maloko-timers".to_owned());
            if thread.spawn(move || keep(&received)).is_err() {
                return Err(alarm);
            }
            // The one of the parent is not dropped: a thread that is not here may hold what its end would take.
            std::mem::forget(keeper.replace(Keeper { owner: OwnProcess::here(), alarms }));
        }
        return match keeper.as_ref() {
            Some(keeper) => keeper.alarms.send(alarm).map_err(|unsent| unsent.0),
            None => Err(alarm),
        };
    }
    Err(alarm)
}

/// Keeps one alarm on a thread of its own, or on the caller's where there can be no other.
fn keep_one(alarm: &Alarm) {
    let (at, bell) = (alarm.at, Weak::clone(&alarm.bell));
    let sleep = move || {
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        if let Some(bell) = bell.upgrade() {
            bell.ring();
        }
    };
    let thread = std::thread::Builder::new().name("maloko-timer".to_owned());
    if thread.spawn(sleep.clone()).is_err() {
        sleep();
    }
}

/// Rings the bells of all alarms in their time.
fn keep(received: &Receiver<Alarm>) {
    let mut alarms: BTreeMap<(Instant, u64), Weak<Bell>> = BTreeMap::new();
    let mut number = 0;
    loop {
        let next = alarms.first_key_value().map(|((at, _), _)| at.saturating_duration_since(Instant::now()));
        let alarm = match next {
            Some(time) => received.recv_timeout(time),
            None => received.recv().map_err(RecvTimeoutError::from),
        };
        match alarm {
            // All that are there: alarms end in the order of their times also where the keeper comes late.
            Ok(first) => {
                for Alarm { at, bell } in std::iter::once(first).chain(received.try_iter()) {
                    number += 1;
                    alarms.insert((at, number), bell);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let now = Instant::now();
        while let Some(first) = alarms.first_entry()
            && first.key().0 <= now
        {
            if let Some(bell) = first.remove().upgrade() {
                bell.ring();
            }
        }
    }
}

#[cfg(test)]
#[path = "timer_tests.rs"]
mod tests;
