//! Every planted bug turns the model red. `make model-bugs` builds the engine with them.
#![cfg(feature = "planted-bugs")]

use maloko_core::planted::{Bug, plant};
use maloko_model::generate;
use maloko_model::rules::Counts;
use maloko_model::run::run;

/// The lifecycles of seed 1 in which a bug must be seen.
const PROGRAMS: u64 = 3000;

/// Every bug, the lifecycle that is known to show it, and the invariants by which it may be noticed first.
const BUGS: [(Bug, u64, &[&str]); 21] = [
    (Bug::PartialUpdateStoresNewInputs, 1, &["rows"]),
    (Bug::InitErrorsIgnored, 24, &["steps", "calls"]),
    (Bug::PendingDeletedAgain, 781, &["steps", "calls"]),
    (Bug::NoChangeReplaces, 23, &["steps", "calls"]),
    (Bug::ReplacementIgnoresChanges, 13, &["calls"]),
    (Bug::DeletesAfterProgramFailure, 2, &["steps", "calls"]),
    (Bug::DeletedWithInverted, 23, &["no orphan", "calls"]),
    (Bug::DependencyIgnoredInSchedule, 0, &["order of calls"]),
    (Bug::DeletesInWrongOrder, 0, &["order of calls"]),
    (Bug::PendingDeleteLost, 0, &["no orphan"]),
    (Bug::PreviewKeepsOutputs, 1, &["calls", "steps", "preview true"]),
    (Bug::IgnoreChangesNotNested, 1530, &["calls", "rows", "steps"]),
    (Bug::AliasIgnored, 1, &["steps", "calls"]),
    (Bug::ProtectIgnoredOnReplacement, 7, &["steps", "calls", "outcome"]),
    (Bug::RetainIgnoredForOldObject, 169, &["calls"]),
    (Bug::DeleteFirstWithoutDependents, 12, &["steps", "calls"]),
    (Bug::FailedCreateRecorded, 7, &["rows", "no duplicate"]),
    (Bug::OldOutputsKept, 0, &["rows", "calls"]),
    (Bug::TargetClosureTooSmall, 69, &["steps", "calls"]),
    (Bug::RefreshKeepsGone, 55, &["rows", "calls"]),
    (Bug::DependentsOfFailureRun, 115, &["steps", "calls", "finished"]),
];

/// A lifecycle that shows the bug, and by which invariant: the known one, or after a change of the generator the first.
fn noticed(bug: Bug, known: u64) -> Option<(u64, &'static str)> {
    plant(Some(bug));
    let found = std::iter::once(known).chain(0..PROGRAMS).find_map(|program| {
        let failure = run(&generate::lifecycle(1, program), &mut Counts::default()).err()?;
        Some((program, failure.broken.invariant.name()))
    });
    plant(None);
    found
}

#[test]
fn every_planted_bug_is_noticed() {
    for (bug, known, invariants) in BUGS {
        let found = noticed(bug, known);
        let expected = found.is_some_and(|(_, invariant)| invariants.contains(&invariant));
        assert!(expected, "{bug:?}: {found:?}, expected one of {invariants:?}");
    }
}
