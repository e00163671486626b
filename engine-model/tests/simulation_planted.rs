//! Every bug that is planted in what keeps a state safe turns the simulation red. `make model-bugs` builds the engine with
//! them.
#![cfg(feature = "planted-bugs")]

use maloko_core::planted::{Bug, plant};
use maloko_model::cloud::Service;
use maloko_model::simulation::explore::{Extent, Interruption, explore};
use maloko_model::simulation::life::{Kind, Setting};
use maloko_model::simulation::rivals::zombie;

const SEED: u64 = 1;
/// The lifecycles in which a bug must be seen. Over a bucket, some 1 in 30 has a call that overtakes its intent.
const PROGRAMS: u64 = 60;

/// The lifecycle that is known to show a bug, and is tried first.
fn first_to_show(bug: Bug, store: Kind) -> u64 {
    match (bug, store) {
        (Bug::CallBeforeIntent, Kind::Memory) => 12,
        (Bug::CallBeforeIntent, Kind::Disk) => 2,
        (Bug::CallBeforeIntent, Kind::Bucket) => 49,
        (Bug::KeptReferencesForgotten, _) => 23,
        _ => 0,
    }
}

/// The invariant by which the bug is noticed first.
fn noticed(bug: Bug, store: Kind, interruption: Interruption) -> Option<&'static str> {
    noticed_in(bug, Setting { store, ..Setting::default() }, interruption)
}

fn noticed_in(bug: Bug, setting: Setting, interruption: Interruption) -> Option<&'static str> {
    plant(Some(bug));
    let known = first_to_show(bug, setting.store);
    let found = (known..PROGRAMS).chain(0..known).find_map(|program| {
        let failure = explore(SEED, program, setting, &[interruption], Extent::Some(12)).err()?;
        Some(failure.broken.invariant.name())
    });
    plant(None);
    found
}

#[test]
fn a_journal_that_is_not_synced_is_noticed() {
    let found = noticed(Bug::JournalNotSynced, Kind::Disk, Interruption::PowerCut);
    assert!(matches!(found, Some("durable" | "no orphan" | "state valid")), "{found:?}");
}

#[test]
fn a_journal_whose_name_is_not_synced_is_noticed() {
    let found = noticed(Bug::JournalNameNotSynced, Kind::Disk, Interruption::PowerCut);
    assert!(matches!(found, Some("durable" | "no orphan")), "{found:?}");
}

#[test]
fn a_checkpoint_that_is_renamed_before_it_is_synced_is_noticed() {
    let found = noticed(Bug::CheckpointNotSynced, Kind::Disk, Interruption::PowerCut);
    assert!(matches!(found, Some("durable" | "state valid")), "{found:?}");
}

#[test]
fn a_call_before_its_intent_is_durable_is_noticed() {
    for (store, interruption) in
        [(Kind::Memory, Interruption::Kill), (Kind::Disk, Interruption::PowerCut), (Kind::Bucket, Interruption::Kill)]
    {
        assert_eq!(noticed(Bug::CallBeforeIntent, store, interruption), Some("no orphan"));
    }
}

#[test]
fn a_report_before_the_outcome_is_durable_is_noticed() {
    for (store, interruption) in
        [(Kind::Memory, Interruption::Kill), (Kind::Disk, Interruption::PowerCut), (Kind::Bucket, Interruption::Kill)]
    {
        assert_eq!(noticed(Bug::DoneBeforeDurable, store, interruption), Some("durable"));
    }
}

#[test]
fn a_journal_that_is_replayed_after_its_fold_is_noticed() {
    let found = noticed(Bug::CompactedJournalReplayed, Kind::Memory, Interruption::Kill);
    assert!(found.is_some());
}

#[test]
fn a_torn_end_that_takes_the_record_before_along_is_noticed() {
    let found = noticed(Bug::TornTailTakesPredecessor, Kind::Memory, Interruption::Kill);
    assert!(matches!(found, Some("durable" | "no orphan")), "{found:?}");
}

#[test]
fn a_row_that_stays_and_refers_to_what_goes_is_noticed() {
    assert_eq!(noticed(Bug::KeptReferencesForgotten, Kind::Memory, Interruption::Kill), Some("state valid"));
}

#[test]
fn a_lease_without_a_fence_is_noticed() {
    for store in [Kind::Memory, Kind::Bucket] {
        plant(Some(Bug::FenceDropped));
        let found = (0..PROGRAMS).find_map(|program| zombie(SEED, program, store).err());
        plant(None);
        assert_eq!(found.map(|broken| broken.invariant.name()), Some("one writer"), "{store:?}");
    }
}

#[test]
fn an_object_that_could_be_known_by_its_operation_key_is_known() {
    for (bug, service) in [(Bug::UnresolvedCreateNotLookedFor, Service::Finds), (Bug::KeyOfEachAttempt, Service::Keys)]
    {
        let setting = Setting { store: Kind::Memory, service };
        assert_eq!(noticed_in(bug, setting, Interruption::Kill), Some("no duplicate"), "{bug:?}");
    }
}
