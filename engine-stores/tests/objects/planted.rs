//! Every bug that is planted in the leases of object stores turns a test of its promise red. `make model-bugs` runs it.

use maloko_core::fail_points::is_noticed;
use maloko_core::state::conformance::unnoticed_bugs;

use super::{conformance, zombies};

#[test]
fn planted_bugs_of_leases_are_noticed_by_the_suite_of_all_stores() {
    assert_eq!(unnoticed_bugs(conformance::stacks_in_memory_pass), []);
}

#[test]
fn planted_bugs_of_fences_and_clocks_are_noticed() {
    assert!(is_noticed("planted::fence-dropped", zombies::after_a_cancel_no_write_of_the_former_holder_gets_through));
    assert!(is_noticed("planted::clock-believed", zombies::wrong_clocks_neither_break_nor_keep_a_lock));
}
