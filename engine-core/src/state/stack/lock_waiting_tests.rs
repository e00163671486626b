#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Mutex, PoisonError};

use futures::FutureExt;
use futures::executor::block_on;
use futures::future::{BoxFuture, ready};
use jiff::Timestamp;

use super::*;
use crate::environment::Clock;
use crate::state::MemoryBackend;

/// Time passes where somebody waits, and nowhere else. The holder gives the lease back at the wait number `gives_back`.
#[derive(Default)]
struct TestClock {
    passed: Mutex<Duration>,
    waits: Mutex<Vec<Duration>>,
    holder: Mutex<Option<Arc<dyn Lease>>>,
    gives_back: Option<usize>,
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn elapsed(&self) -> Duration {
        *lock(&self.passed)
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        *lock(&self.passed) += time;
        lock(&self.waits).push(time);
        if self.gives_back == Some(lock(&self.waits).len()) {
            // Memory gives a lease back at once, and nobody may wait inside of somebody's wait.
            lock(&self.holder).take().and_then(|lease| lease.release().now_or_never());
        }
        Box::pin(ready(()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks for a lease that somebody else has; gives the error if there was one, the clock, and what was told.
fn asked(patience: Duration, gives_back: Option<usize>) -> (Option<Error>, Arc<TestClock>, Vec<String>) {
    let stack = StackName::new("proj", "dev").unwrap();
    let memory = MemoryBackend::new(Environment::system());
    block_on(memory.create(&stack, b"{}")).unwrap();
    let held = block_on(memory.lease(&stack, "maloko up")).unwrap();
    let clock = Arc::new(TestClock { gives_back, holder: Mutex::new(Some(held)), ..TestClock::default() });
    let environment = Environment { clock: Arc::clone(&clock) as _, ..Environment::system() };
    let told = Arc::<Mutex<Vec<String>>>::default();
    let tells = Arc::clone(&told);
    let waiting = LockWaitingBackend::new(Arc::new(memory), patience, environment, move |text| {
        lock(&tells).push(text.to_owned());
    });
    let error = block_on(waiting.lease(&stack, "maloko destroy")).err();
    let told = lock(&told).clone();
    (error, clock, told)
}

#[test]
fn a_lock_that_is_given_back_in_time_is_had() {
    let (error, clock, told) = asked(Duration::from_secs(300), Some(3));
    assert!(error.is_none(), "{error:?}");
    assert_eq!(lock(&clock.waits).len(), 3);
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("'dev' is locked") && told[0].ends_with("waiting for 300 s at most"), "{told:?}");
}

#[test]
fn a_lock_that_is_kept_is_refused_when_the_time_is_over() {
    let (error, clock, told) = asked(Duration::from_secs(5), None);
    assert!(matches!(error, Some(Error::InUse { .. })), "{error:?}");
    assert_eq!(clock.elapsed(), Duration::from_secs(5));
    assert_eq!(told.len(), 1);
}

#[test]
fn without_patience_nobody_waits() {
    let (error, clock, told) = asked(Duration::ZERO, Some(1));
    assert!(matches!(error, Some(Error::InUse { .. })), "{error:?}");
    assert!(lock(&clock.waits).is_empty() && told.is_empty());
}
