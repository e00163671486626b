//! Every bug that is planted in the leases of object stores turns a test of its promise red. `make model-bugs` runs it.

use maloko_core::planted::{Bug, is_noticed};
use maloko_core::state::conformance::unnoticed_bugs;

use super::conformance::Memories;
use super::world::block;
use super::zombies;

#[test]
fn planted_bugs_of_leases_are_noticed_by_the_suite_of_all_stores() {
    assert_eq!(block(unnoticed_bugs(&Memories)), []);
}

#[test]
fn planted_bugs_of_fences_and_clocks_are_noticed() {
    let promises: [(Bug, fn()); 2] = [
        (Bug::FenceDropped, zombies::after_a_cancel_no_write_of_the_former_holder_gets_through),
        (Bug::ClockBelieved, zombies::wrong_clocks_neither_break_nor_keep_a_lock),
    ];
    for (bug, promise) in promises {
        assert!(is_noticed(bug, promise), "{bug:?} is not noticed");
    }
}
