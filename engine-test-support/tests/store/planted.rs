//! Every bug that is planted in the directory store turns the test of its promise red. `make model-bugs` runs it.

use maloko_core::fail_points::is_noticed;

use crate::{corpus, damage, disks, privacy, processes};

#[test]
fn planted_damage_is_noticed() {
    assert!(is_noticed("planted::damage-taken-for-empty", damage::zeros_and_nothing_are_never_an_empty_stack));
    assert!(is_noticed("planted::checksum-not-compared", damage::flipped_bits_are_noticed_or_harmless));
}

#[test]
fn planted_carelessness_with_the_disk_is_noticed() {
    let promise = disks::on_a_full_disk_every_outcome_of_a_call_that_was_begun_is_recorded;
    assert!(is_noticed("planted::room-not-reserved", promise));
    let promise = disks::whichever_operation_of_the_disk_fails_nothing_is_lost;
    assert!(is_noticed("planted::write-error-ignored", promise));
}

#[test]
fn planted_bugs_of_the_lease_are_noticed() {
    assert!(is_noticed("planted::lease-shared", processes::of_many_processes_exactly_one_gets_the_stack));
    let promise = processes::a_stopped_writer_that_was_overtaken_writes_nothing_when_it_wakes;
    assert!(is_noticed("planted::fence-dropped", promise));
}

#[test]
fn planted_openness_is_noticed() {
    assert!(is_noticed("planted::mode-not-set", privacy::everything_is_private_whatever_the_umask));
    assert!(is_noticed("planted::link-followed", privacy::a_link_anywhere_in_the_store_leads_nowhere));
    let promise = privacy::a_directory_that_is_swapped_for_a_link_in_the_middle_of_a_run_leads_nowhere;
    assert!(is_noticed("planted::link-followed", promise));
}

#[test]
fn planted_contempt_for_other_versions_is_noticed() {
    let promise = corpus::members_that_this_version_does_not_know_are_kept_on_write;
    assert!(is_noticed("planted::unknown-members-stripped", promise));
    assert!(is_noticed("planted::newer-format-taken", corpus::newer_states_are_refused_and_not_stripped));
}
