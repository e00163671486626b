//! Every bug that is planted in the directory store turns the test of its promise red. `make model-bugs` runs it.

use std::io::Write;

use maloko_core::fail_points::is_noticed;

use crate::{corpus, damage, disks, privacy, processes};

/// Which part of each list is looked for: `2/5` is the second fifth.
const PART_VARIABLE: &str = "MALOKO_PLANTED_PART";

/// A bug, and whether the test of the promise notices it.
type Promise = (&'static str, fn(&str) -> bool);

/// A bug, and the test that has to notice it.
macro_rules! promise {
    ($point:literal, $test:path) => {
        ($point, |point| is_noticed(point, $test))
    };
}

/// A number and how many there are: the first part of one where nothing, or nothing sensible, is asked for.
fn part_of(text: &str) -> (usize, usize) {
    let numbers = text.split_once('/').and_then(|(part, parts)| Some((part.parse().ok()?, parts.parse().ok()?)));
    numbers.filter(|(part, parts)| (1..=*parts).contains(part)).unwrap_or((1, 1))
}

/// Which are looked for is said where no test harness hides it.
fn assert_noticed(list: &str, promises: &[Promise]) {
    let (part, parts) = part_of(&std::env::var(PART_VARIABLE).unwrap_or_default());
    let chosen: Vec<&Promise> = promises.iter().skip(part - 1).step_by(parts).collect();
    let said = format!("planted bugs, {list}: part {part} of {parts}, {} of {}\n", chosen.len(), promises.len());
    let _ = std::io::stderr().write_all(said.as_bytes());
    for (point, is_noticed) in chosen {
        assert!(is_noticed(point), "{point} is not noticed");
    }
}

#[test]
fn all_bugs_are_looked_for_unless_a_part_is_asked_for() {
    assert_eq!((part_of("2/5"), part_of("5/5")), ((2, 5), (5, 5)));
    for nothing_sensible in ["", "2", "0/5", "6/5", "0/0", "x/5", "1/5/5"] {
        assert_eq!(part_of(nothing_sensible), (1, 1), "{nothing_sensible}");
    }
}

#[test]
fn planted_damage_is_noticed() {
    assert_noticed(
        "damage",
        &[
            promise!("planted::damage-taken-for-empty", damage::zeros_and_nothing_are_never_an_empty_stack),
            promise!("planted::checksum-not-compared", damage::flipped_bits_are_noticed_or_harmless),
        ],
    );
}

#[test]
fn planted_carelessness_with_the_disk_is_noticed() {
    assert_noticed(
        "the disk",
        &[
            promise!(
                "planted::room-not-reserved",
                disks::on_a_full_disk_every_outcome_of_a_call_that_was_begun_is_recorded
            ),
            promise!("planted::write-error-ignored", disks::whichever_operation_of_the_disk_fails_nothing_is_lost),
        ],
    );
}

#[test]
fn planted_bugs_of_the_lease_are_noticed() {
    assert_noticed(
        "leases",
        &[
            promise!("planted::lease-shared", processes::of_many_processes_exactly_one_gets_the_stack),
            promise!(
                "planted::fence-dropped",
                processes::a_stopped_writer_that_was_overtaken_writes_nothing_when_it_wakes
            ),
        ],
    );
}

#[test]
fn planted_openness_is_noticed() {
    assert_noticed(
        "openness",
        &[
            promise!("planted::mode-not-set", privacy::everything_is_private_whatever_the_umask),
            promise!("planted::link-followed", privacy::a_link_anywhere_in_the_store_leads_nowhere),
            promise!(
                "planted::link-followed",
                privacy::a_directory_that_is_swapped_for_a_link_in_the_middle_of_a_run_leads_nowhere
            ),
        ],
    );
}

#[test]
fn planted_contempt_for_other_versions_is_noticed() {
    assert_noticed(
        "versions",
        &[
            promise!(
                "planted::unknown-members-stripped",
                corpus::members_that_this_version_does_not_know_are_kept_on_write
            ),
            promise!("planted::newer-format-taken", corpus::newer_states_are_refused_and_not_stripped),
        ],
    );
}
