use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::FutureExt;
use futures::executor::block_on;
use futures::future::{Either, select};
use maloko_core::environment::Clock;

use super::{PATIENCE, STILLNESS, VirtualClock, Wish};

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn time_passes_when_it_is_told_to() {
    let clock = VirtualClock::default();
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    let mut timer = clock.timer(Duration::from_secs(60), Wish::None);
    assert_eq!(timer.poll_unpin(&mut context), Poll::Pending);
    clock.advance(Duration::from_secs(59));
    assert_eq!((timer.poll_unpin(&mut context), woken.0.load(Ordering::Relaxed)), (Poll::Pending, 0));
    let before = clock.now();
    clock.advance(Duration::from_secs(1));
    assert_eq!((timer.poll_unpin(&mut context), woken.0.load(Ordering::Relaxed)), (Poll::Ready(()), 1));
    assert_eq!((clock.elapsed(), clock.now() > before), (Duration::from_secs(60), true));
}

/// Resolves as soon as time is moved, by itself, so far that the timer is over.
fn moved(clock: &VirtualClock, timer: futures::future::BoxFuture<'static, ()>) {
    let ended = block_on(select(timer, Box::pin(clock.clone().keep_going())));
    assert!(matches!(ended, Either::Left(_)));
}

#[test]
fn time_is_moved_to_the_next_moment_that_somebody_waits_for() {
    let clock = VirtualClock::default();
    let _later = clock.timer(Duration::from_secs(7200), Wish::Next);
    let _watching = clock.timer(Duration::from_secs(10), Wish::None);
    moved(&clock, clock.timer(Duration::from_secs(3600), Wish::Next));
    assert_eq!(clock.elapsed(), Duration::from_secs(3600));
}

#[test]
fn the_last_wish_waits_for_all_others() {
    let clock = VirtualClock::default();
    let last = clock.timer(PATIENCE, Wish::Last);
    moved(&clock, clock.timer(10 * PATIENCE, Wish::Next));
    assert_eq!(clock.elapsed(), 10 * PATIENCE);
    moved(&clock, last);
    assert_eq!(clock.elapsed(), 11 * PATIENCE);
}

#[test]
fn time_is_not_moved_on_before_those_whose_time_has_come_know_it() {
    let clock = VirtualClock::default();
    let mut first = clock.timer(Duration::from_secs(1), Wish::Next);
    let second = clock.timer(Duration::from_secs(2), Wish::Next);
    assert_eq!(first.poll_unpin(&mut Context::from_waker(Waker::noop())), Poll::Pending);
    let a_while = async {
        while clock.elapsed().is_zero() {
            maloko_core::environment::timer::wait(STILLNESS).await;
        }
        maloko_core::environment::timer::wait(20 * STILLNESS).await;
    };
    let ended = block_on(select(Box::pin(a_while), Box::pin(clock.clone().keep_going())));
    assert!(matches!(ended, Either::Left(_)));
    assert_eq!(clock.elapsed(), Duration::from_secs(1));
    assert_eq!(first.poll_unpin(&mut Context::from_waker(Waker::noop())), Poll::Ready(()));
    moved(&clock, second);
    assert_eq!(clock.elapsed(), Duration::from_secs(2));
}

#[test]
fn an_answer_does_not_overtake_a_moment_that_has_come() {
    let clock = VirtualClock::default();
    let mut timer = clock.timer(Duration::from_secs(1), Wish::Next);
    let waker = Waker::noop();
    assert_eq!(timer.poll_unpin(&mut Context::from_waker(waker)), Poll::Pending);
    clock.advance(Duration::from_secs(1));
    assert!(clock.seen().now_or_never().is_none());
    assert_eq!(timer.poll_unpin(&mut Context::from_waker(waker)), Poll::Ready(()));
    assert!(clock.seen().now_or_never().is_some());
    let dropped = clock.timer(Duration::from_secs(1), Wish::Next);
    clock.advance(Duration::from_secs(1));
    drop(dropped);
    assert!(clock.seen().now_or_never().is_some());
}
