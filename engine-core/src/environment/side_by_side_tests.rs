#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::side_by_side;

#[test]
fn both_results_come_back_wherever_they_were_computed() {
    let own = thread::current().id();
    let place = || thread::current().id();
    let (here, beside) = side_by_side(true, place, place);
    assert_eq!(here, own);
    assert_ne!(beside, own);
    assert_eq!(side_by_side(false, place, place), (own, own));
}

#[test]
fn a_panic_beside_goes_on_in_the_caller() {
    let outcome = catch_unwind(AssertUnwindSafe(|| side_by_side(true, || 1, || panic!("beside"))));
    let panic = outcome.err().and_then(|panic| panic.downcast::<&str>().ok());
    assert_eq!(panic.as_deref(), Some(&"beside"));
}
