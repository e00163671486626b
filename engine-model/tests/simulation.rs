//! The sampled form of the simulation; `make soak-simulation` is the full one. A failure prints the line that repeats it.
#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::io::ErrorKind;

use maloko_model::cloud::Service;
use maloko_model::driven::Driver;
use maloko_model::simulation::explore::{Case, CaseCounts, Extent, Interruption, explore, replay};
use maloko_model::simulation::life::{Kind, Setting};
use maloko_model::simulation::rivals::{Meetings, second_writer, zombie};

const SEED: u64 = 1;
const STORES: [Kind; 3] = [Kind::Memory, Kind::Disk, Kind::Bucket];
const FULL: Interruption = Interruption::Fault(ErrorKind::StorageFull);

fn ends_the_process(interruption: Interruption) -> bool {
    matches!(interruption, Interruption::Kill | Interruption::PowerCut)
}

/// Tries some cases of each lifecycle.
fn sample(programs: u64, store: Kind, service: Service, interruption: Interruption) -> CaseCounts {
    let mut all = CaseCounts::default();
    for program in 0..programs {
        let setting = Setting { store, service, driver: Driver::of(program) };
        match explore(SEED, program, setting, &[interruption], Extent::Some(4)) {
            Ok(tried) => {
                all.cases += tried.cases;
                all.deaths += tried.deaths;
                all.named += tried.named;
            }
            Err(failure) => panic!("{failure}"),
        }
    }
    // A sample in which nothing is ever cut off, or nothing is ever left over, proves nothing.
    assert!(all.deaths * 2 > all.cases || !ends_the_process(interruption), "{all:?}");
    all
}

#[test]
fn a_kill_loses_or_duplicates_no_object_silently() {
    for store in STORES {
        let tried = sample(12, store, Service::Plain, Interruption::Kill);
        assert!(tried.named > 0, "{tried:?}");
    }
}

#[test]
fn where_the_operation_key_is_known_no_object_is_left_over_or_made_twice() {
    for service in [Service::Keys, Service::Finds] {
        for store in STORES {
            sample(3, store, service, Interruption::Kill);
        }
    }
}

#[test]
fn what_was_reported_as_done_survives_a_power_cut() {
    let tried = sample(12, Kind::Disk, Service::Plain, Interruption::PowerCut);
    assert!(tried.named > 0, "{tried:?}");
}

#[test]
fn a_disk_that_fails_once_loses_no_outcome() {
    for store in [Kind::Memory, Kind::Disk] {
        sample(5, store, Service::Plain, FULL);
    }
}

#[test]
fn an_object_store_that_fails_once_loses_no_outcome() {
    sample(5, Kind::Bucket, Service::Plain, FULL);
}

#[test]
fn a_plugin_that_dies_in_a_call_loses_or_duplicates_no_object_silently() {
    let tried = sample(20, Kind::Memory, Service::Plain, Interruption::PluginDies);
    assert!(tried.named > 0, "{tried:?}");
}

#[test]
fn one_seed_gives_one_trace() {
    for (program, store) in [(0, Kind::Disk), (3, Kind::Disk), (5, Kind::Memory), (4, Kind::Bucket)] {
        let setting = Setting { store, driver: Driver::of(program), ..Setting::default() };
        let again = Some(9);
        let case =
            Case { seed: SEED, program, step: 1, setting, interruption: Interruption::PowerCut, point: 25, again };
        let trace = || replay(&case).map_or_else(|failure| panic!("{failure}"), |(_, trace)| trace);
        let (one, other) = (trace(), trace());
        assert!(one.lines().count() > 30, "{one}");
        let differs = one.lines().zip(other.lines()).find(|(one, other)| one != other);
        assert_eq!((differs, one.len()), (None, other.len()), "{case}");
    }
}

/// What the long form has found, by its own seeds.
#[test]
fn what_was_found_once_does_not_come_back() {
    // A deletion in doubt, which turned out to be made, left what refers to it in the state of a run that was killed next.
    let setting = Setting { store: Kind::Disk, driver: Driver::Loop, ..Setting::default() };
    let (interruption, again) = (Interruption::Kill, Some(56));
    let case = Case { seed: 4343, program: 7, step: 2, setting, interruption, point: 30, again };
    if let Err(failure) = replay(&case) {
        panic!("{failure}");
    }
}

#[test]
fn of_two_processes_one_is_refused_and_told_by_whom() {
    let mut all = Meetings::default();
    for (program, store) in (0..10).flat_map(|program| STORES.map(|store| (program, store))) {
        match second_writer(SEED, program, store) {
            Ok(met) => {
                all.refused += met.refused;
                all.in_turn += met.in_turn;
            }
            Err(broken) => panic!("program {program} of seed {SEED}: {}: {}", broken.invariant.name(), broken.details),
        }
    }
    assert!(all.refused > 0 && all.in_turn > 0, "{all:?}");
}

#[test]
fn a_process_that_lost_its_lease_writes_nothing_more() {
    for store in STORES {
        let told: u64 = (0..20)
            .map(|program| match zombie(SEED, program, store) {
                Ok(told) => told,
                Err(broken) => {
                    panic!(
                        "program {program} of seed {SEED}, {store:?}: {}: {}",
                        broken.invariant.name(),
                        broken.details
                    )
                }
            })
            .sum();
        assert!(told > 0, "{store:?}");
    }
}
