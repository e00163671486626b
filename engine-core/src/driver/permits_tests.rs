use futures::FutureExt;
use futures::executor::block_on;

use super::*;

#[test]
fn permits_are_given_in_the_order_in_which_they_are_asked_for() {
    let permits = Permits::new(2);
    let held = permits.acquire(2).now_or_never();
    let mut large = Box::pin(permits.acquire(2));
    let mut small = Box::pin(permits.acquire(1));
    assert!(large.as_mut().now_or_never().is_none());
    assert!(small.as_mut().now_or_never().is_none());
    drop(held);
    let large = large.now_or_never();
    assert!(large.is_some());
    assert!(small.as_mut().now_or_never().is_none());
    drop(large);
    assert!(small.now_or_never().is_some());
}

#[test]
fn who_waits_no_more_takes_no_permit_along() {
    let permits = Permits::new(1);
    let held = permits.acquire(1).now_or_never();
    let mut gone = Box::pin(permits.acquire(1));
    let mut given = Box::pin(permits.acquire(1));
    assert!(gone.as_mut().now_or_never().is_none());
    assert!(given.as_mut().now_or_never().is_none());
    drop(gone);
    drop(held);
    // It was given its permit, and goes before it has seen that.
    drop(given);
    assert!(permits.acquire(1).now_or_never().is_some());
}

#[test]
fn one_is_alone_only_when_nobody_shares() {
    let planning = SharedOrAlone::new();
    let (first, second) = (planning.shared().now_or_never(), planning.shared().now_or_never());
    let mut alone = Box::pin(planning.alone());
    assert!(alone.as_mut().now_or_never().is_none());
    assert!(planning.shared().now_or_never().is_none(), "who comes later waits behind the one who wants to be alone");
    drop((first, second));
    assert!(alone.now_or_never().is_some());
}

#[test]
fn what_is_done_once_is_done_by_the_next_where_the_first_is_given_up() {
    let once: Once<u8> = Once::default();
    assert!(once.get_or_do(async || std::future::pending().await).now_or_never().is_none());
    assert_eq!(once.get(), None);
    assert_eq!(block_on(once.get_or_do(async || 1)), 1);
    assert_eq!(block_on(once.get_or_do(async || 2)), 1);
}

#[test]
fn a_long_queue_of_those_who_wait_no_more_is_passed_over_on_a_small_stack() {
    let passed = std::thread::Builder::new().stack_size(256 * 1024).spawn(|| {
        let permits = Permits::new(1);
        let held = permits.acquire(1).now_or_never();
        for _ in 0..20_000 {
            assert!(permits.acquire(1).now_or_never().is_none());
        }
        drop(held);
        permits.acquire(1).now_or_never().is_some()
    });
    assert!(passed.is_ok_and(|thread| thread.join().is_ok_and(|passed| passed)));
}

#[test]
fn one_who_wanted_to_be_alone_and_waits_no_more_keeps_nobody_from_sharing() {
    let planning = SharedOrAlone::new();
    let _held = planning.shared().now_or_never();
    let mut alone = Box::pin(planning.alone());
    assert!(alone.as_mut().now_or_never().is_none());
    drop(alone);
    assert!(planning.shared().now_or_never().is_some());
}
