use std::time::{Duration, Instant};

use futures::executor::block_on;
use futures::future::{Either, join_all, select};

use super::*;

#[test]
fn waits_end_in_the_order_of_their_times_and_not_before() {
    let begun = Instant::now();
    let times = [30, 10, 20].map(Duration::from_millis);
    let ended = block_on(join_all(times.map(|time| async move {
        wait(time).await;
        (begun.elapsed(), time)
    })));
    assert!(ended.iter().all(|(at, time)| at >= time), "{ended:?}");
    assert!(ended[1].0 <= ended[2].0 && ended[2].0 <= ended[0].0, "{ended:?}");
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
    *KEEPER.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(abandoned);
    block_on(wait(Duration::from_millis(1)));
    assert!(unheard.try_recv().is_err());
}
