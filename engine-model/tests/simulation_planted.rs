//! Every bug that is planted in what keeps a state safe turns the simulation red. `make model-bugs` builds the engine with
//! them. They are on for the whole process, so these tests take turns.
#![cfg(feature = "planted-bugs")]

use maloko_core::fail_points::turn_on;
use maloko_model::cloud::Service;
use maloko_model::simulation::explore::{Extent, Interruption, explore};
use maloko_model::simulation::life::{Kind, Setting};
use maloko_model::simulation::rivals::zombie;

const SEED: u64 = 1;
/// The lifecycles in which a bug must be seen.
const PROGRAMS: u64 = 60;

/// The lifecycle that is known to show a bug, and is tried first; one of the first few where none is named.
fn first_to_show(bug: &'static str, store: Kind) -> u64 {
    match (bug, store) {
        ("planted::call-before-intent", Kind::Memory) => 7,
        ("planted::call-before-intent", Kind::Disk) => 13,
        ("planted::provider-deleted-before-its-resources", _) => 11,
        ("planted::unchanged-provider-takes-new-inputs", _) => 30,
        _ => 0,
    }
}

/// The invariant by which the bug is noticed first.
fn noticed(bug: &'static str, store: Kind, interruption: Interruption) -> Option<&'static str> {
    noticed_in(bug, Setting { store, ..Setting::default() }, interruption)
}

fn noticed_in(bug: &'static str, setting: Setting, interruption: Interruption) -> Option<&'static str> {
    let _on = turn_on(bug);
    let known = first_to_show(bug, setting.store);
    (known..PROGRAMS).chain(0..known).find_map(|program| {
        let failure = explore(SEED, program, setting, &[interruption], Extent::Some(12)).err()?;
        Some(failure.broken.invariant.name())
    })
}

#[test]
fn a_journal_that_is_not_synced_is_noticed() {
    let found = noticed("planted::journal-not-synced", Kind::Disk, Interruption::PowerCut);
    assert!(matches!(found, Some("durable" | "no orphan" | "state valid")), "{found:?}");
}

#[test]
fn a_journal_whose_name_is_not_synced_is_noticed() {
    let found = noticed("planted::journal-name-not-synced", Kind::Disk, Interruption::PowerCut);
    assert!(matches!(found, Some("durable" | "no orphan")), "{found:?}");
}

#[test]
fn a_checkpoint_that_is_renamed_before_it_is_synced_is_noticed() {
    let found = noticed("planted::checkpoint-not-synced", Kind::Disk, Interruption::PowerCut);
    assert!(matches!(found, Some("durable" | "state valid")), "{found:?}");
}

#[test]
fn a_call_before_its_intent_is_durable_is_noticed() {
    for (store, interruption) in
        [(Kind::Memory, Interruption::Kill), (Kind::Disk, Interruption::PowerCut), (Kind::Bucket, Interruption::Kill)]
    {
        assert_eq!(noticed("planted::call-before-intent", store, interruption), Some("no orphan"));
    }
}

#[test]
fn a_report_before_the_outcome_is_durable_is_noticed() {
    for (store, interruption) in
        [(Kind::Memory, Interruption::Kill), (Kind::Disk, Interruption::PowerCut), (Kind::Bucket, Interruption::Kill)]
    {
        assert_eq!(noticed("planted::done-before-durable", store, interruption), Some("durable"));
    }
}

#[test]
fn a_journal_that_is_replayed_after_its_compaction_is_noticed() {
    let found = noticed("planted::compacted-journal-replayed", Kind::Memory, Interruption::Kill);
    assert!(found.is_some());
}

#[test]
fn a_torn_end_that_takes_the_record_before_along_is_noticed() {
    let found = noticed("planted::torn-tail-takes-predecessor", Kind::Memory, Interruption::Kill);
    assert!(matches!(found, Some("durable" | "no orphan")), "{found:?}");
}

#[test]
fn a_resource_that_stays_and_refers_to_what_goes_is_noticed() {
    assert_eq!(noticed("planted::kept-references-forgotten", Kind::Memory, Interruption::Kill), Some("state valid"));
}

#[test]
fn a_lease_without_a_fence_is_noticed() {
    for store in [Kind::Memory, Kind::Bucket] {
        let _on = turn_on("planted::fence-dropped");
        let found = (0..PROGRAMS).find_map(|program| zombie(SEED, program, store).err());
        assert_eq!(found.map(|broken| broken.invariant.name()), Some("one writer"), "{store:?}");
    }
}

#[test]
fn an_object_that_could_be_known_by_its_operation_key_is_known() {
    for (bug, service) in
        [("planted::unresolved-create-not-looked-for", Service::Finds), ("planted::key-of-each-attempt", Service::Keys)]
    {
        let setting = Setting { store: Kind::Memory, service, ..Setting::default() };
        assert_eq!(noticed_in(bug, setting, Interruption::Kill), Some("no duplicate"), "{bug}");
    }
}

#[test]
fn a_provider_resource_that_goes_before_what_it_serves_is_noticed() {
    let found = noticed("planted::provider-deleted-before-its-resources", Kind::Memory, Interruption::Kill);
    assert_eq!(found, Some("state valid"));
}

#[test]
fn a_create_in_which_a_plugin_died_and_that_is_forgotten_is_noticed() {
    let found = noticed("planted::create-of-plugin-forgotten", Kind::Memory, Interruption::PluginDies);
    assert_eq!(found, Some("no orphan"));
}

#[test]
fn a_call_of_a_wrong_plugin_is_noticed() {
    for bug in ["planted::any-provider-of-the-package", "planted::unchanged-provider-takes-new-inputs"] {
        assert_eq!(noticed(bug, Kind::Memory, Interruption::Kill), Some("right provider"), "{bug}");
    }
}
