//! Every bug that is planted in the directory store turns the test of its promise red. `make model-bugs` runs it.

use maloko_core::planted::{Bug, is_noticed, of_this_part};

use crate::{corpus, damage, disks, privacy, processes};

fn assert_noticed(list: &str, promises: &[(Bug, fn())]) {
    for (bug, promise) in of_this_part(list, promises) {
        assert!(is_noticed(bug, promise), "{bug:?} is not noticed");
    }
}

#[test]
fn planted_damage_is_noticed() {
    assert_noticed(
        "damage",
        &[
            (Bug::DamageTakenForEmpty, damage::zeros_and_nothing_are_never_an_empty_stack),
            (Bug::ChecksumNotCompared, damage::flipped_bits_are_noticed_or_harmless),
        ],
    );
}

#[test]
fn planted_carelessness_with_the_disk_is_noticed() {
    assert_noticed(
        "the disk",
        &[
            (Bug::RoomNotReserved, disks::on_a_full_disk_every_outcome_of_a_call_that_was_begun_is_recorded),
            (Bug::WriteErrorIgnored, disks::whichever_operation_of_the_disk_fails_nothing_is_lost),
        ],
    );
}

#[test]
fn planted_bugs_of_the_lease_are_noticed() {
    assert_noticed(
        "leases",
        &[
            (Bug::LeaseShared, processes::of_many_processes_exactly_one_gets_the_stack),
            (Bug::FenceDropped, processes::a_stopped_writer_that_was_overtaken_writes_nothing_when_it_wakes),
        ],
    );
}

#[test]
fn planted_openness_is_noticed() {
    assert_noticed(
        "openness",
        &[
            (Bug::ModeNotSet, privacy::everything_is_private_whatever_the_umask),
            (Bug::LinkFollowed, privacy::a_link_anywhere_in_the_store_leads_nowhere),
            (Bug::LinkFollowed, privacy::a_directory_that_is_swapped_for_a_link_in_the_middle_of_a_run_leads_nowhere),
        ],
    );
}

#[test]
fn planted_contempt_for_other_versions_is_noticed() {
    assert_noticed(
        "versions",
        &[
            (Bug::UnknownMembersStripped, corpus::members_that_this_version_does_not_know_are_kept_on_write),
            (Bug::NewerFormatTaken, corpus::newer_states_are_refused_and_not_stripped),
        ],
    );
}
