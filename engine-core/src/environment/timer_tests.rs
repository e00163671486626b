use std::sync::PoisonError;
use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::{Either, select};
use futures::task::{ArcWake, waker};

use super::*;

/// Writes down that it was woken.
struct Noted {
    time: Duration,
    order: Arc<Mutex<Vec<Duration>>>,
}

impl ArcWake for Noted {
    fn wake_by_ref(noted: &Arc<Self>) {
        noted.order.lock().unwrap_or_else(PoisonError::into_inner).push(noted.time);
    }
}

#[test]
fn waits_end_in_the_order_of_their_times_and_not_before() {
    let (alarms, received) = channel();
    let (begun, order) = (Instant::now(), Arc::default());
    let set = |time| {
        let bell = Arc::new(Bell::default());
        assert!(alarms.send(Alarm { at: begun + time, bell: Arc::downgrade(&bell) }).is_ok());
        bell
    };
    let times = [30, 10, 20].map(Duration::from_millis);
    let bells = times.map(|time| {
        let bell = set(time);
        bell.waiting.register(&waker(Arc::new(Noted { time, order: Arc::clone(&order) })));
        bell
    });
    let last = set(Duration::from_millis(40));
    let keeper = std::thread::spawn(move || keep(&received));
    block_on(Wait(last));
    drop(alarms);
    assert!(keeper.join().is_ok());
    assert!(bells.iter().all(|bell| bell.has_rung.load(Ordering::Acquire)));
    assert_eq!(*order.lock().unwrap_or_else(PoisonError::into_inner), [10, 20, 30].map(Duration::from_millis));
    assert!(begun.elapsed() >= Duration::from_millis(40));
}

#[test]
fn a_wait_that_is_too_long_for_the_clock_lasts() {
    let first = block_on(select(wait(Duration::MAX), wait(Duration::from_millis(1))));
    assert!(matches!(first, Either::Right(_)));
}

#[test]
fn an_alarm_is_kept_without_the_keeper() {
    let bell = Arc::new(Bell::default());
    let at = Instant::now() + Duration::from_millis(5);
    keep_one(&Alarm { at, bell: Arc::downgrade(&bell) });
    block_on(Wait(bell));
    assert!(Instant::now() >= at);
}

#[test]
fn a_keeper_of_another_process_is_replaced() {
    let (alarms, unheard) = channel();
    let abandoned = Keeper { owner: OwnProcess::of(std::process::id() + 1), alarms };
    // The one before is not dropped: it keeps the alarms of tests that run beside this one.
    std::mem::forget(KEEPER.lock().unwrap_or_else(PoisonError::into_inner).replace(abandoned));
    block_on(wait(Duration::from_millis(1)));
    assert!(unheard.try_recv().is_err());
}
