use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;
use std::time::Duration;

use futures::executor::block_on;

use crate::driver::outside_calls::{AnyOutsideCall, Durable, Sleep};
use crate::state::{Session, Snapshot};

use super::*;

#[derive(Default)]
struct Counted(AtomicUsize);

impl Wake for Counted {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn who_waits_for_a_record_is_not_woken_for_the_next_one_but_for_all_else() {
    let session = Session::read_only(Snapshot::default());
    let record = || AnyOutsideCall::from(Durable { durability: session.append(vec![]), ongoing: None });
    let (post, counted) = (Post::default(), Arc::<Counted>::default());
    let waker = Waker::from(Arc::clone(&counted));
    let woken = || counted.0.load(Ordering::Relaxed);
    assert!(matches!(post.collect(1, &waker, false), Letter::Calls(calls) if calls.is_empty()));
    post.leave(1, 1, record());
    assert_eq!(woken(), 1);
    let Letter::Calls(calls) = post.collect(1, &waker, false) else { return };
    assert_eq!(calls.len(), 1);
    post.leave(1, 2, record());
    assert_eq!(woken(), 1);
    post.leave(1, 3, AnyOutsideCall::from(Sleep(Duration::ZERO)));
    assert_eq!(woken(), 2);
    // It comes when the first record is durable, and finds the rest.
    assert!(matches!(post.collect(1, &waker, false), Letter::Calls(calls) if calls.len() == 2));
    for (_, call) in calls {
        if let AnyOutsideCall::Durable(Durable { durability, .. }) = call {
            assert!(block_on(durability).is_ok());
        }
    }
}
