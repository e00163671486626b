//! Every planted bug turns the model red. `make model-bugs` builds the engine with them.
#![cfg(feature = "planted-bugs")]

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use maloko_core::planted::{Bug, of_this_part, plant};
use maloko_model::generate;
use maloko_model::rules::Counts;
use maloko_model::run::run;

/// The lifecycles of seed 1 in which a bug must be seen.
const PROGRAMS: u64 = 3000;

/// Every bug, with the invariants by which it may be noticed first.
const BUGS: [(Bug, &[&str]); 21] = [
    (Bug::PartialUpdateStoresNewInputs, &["rows"]),
    (Bug::InitErrorsIgnored, &["steps", "calls"]),
    (Bug::PendingDeletedAgain, &["steps", "calls"]),
    (Bug::NoChangeReplaces, &["steps", "calls"]),
    (Bug::ReplacementIgnoresChanges, &["calls"]),
    (Bug::DeletesAfterProgramFailure, &["steps", "calls"]),
    (Bug::DeletedWithInverted, &["no orphan", "calls"]),
    (Bug::DependencyIgnoredInSchedule, &["order of calls"]),
    (Bug::DeletesInWrongOrder, &["order of calls"]),
    (Bug::PendingDeleteLost, &["no orphan"]),
    (Bug::PreviewKeepsOutputs, &["calls", "steps", "preview true"]),
    (Bug::IgnoreChangesNotNested, &["calls", "rows", "steps"]),
    (Bug::AliasIgnored, &["steps", "calls"]),
    (Bug::ProtectIgnoredOnReplacement, &["steps", "calls", "outcome"]),
    (Bug::RetainIgnoredForOldHalf, &["calls"]),
    (Bug::DeleteFirstWithoutDependents, &["steps", "calls"]),
    (Bug::FailedCreateRecorded, &["rows", "no duplicate"]),
    (Bug::OldOutputsKept, &["rows", "calls"]),
    (Bug::TargetClosureTooSmall, &["steps", "calls"]),
    (Bug::RefreshKeepsGone, &["rows", "calls"]),
    (Bug::DependentsOfFailureRun, &["steps", "calls", "finished"]),
];

/// The first lifecycle that shows the bug, and by which invariant.
fn noticed(bug: Bug) -> Option<(u64, &'static str)> {
    plant(Some(bug));
    let found = (0..PROGRAMS).find_map(|program| {
        let failure = run(&generate::lifecycle(1, program), &mut Counts::default()).err()?;
        Some((program, failure.broken.invariant.name()))
    });
    plant(None);
    found
}

#[test]
fn every_planted_bug_is_noticed() {
    let bugs = of_this_part("the model", &BUGS);
    let next = AtomicUsize::new(0);
    let missed: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((bug, invariants)) = bugs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = noticed(*bug);
                    if !found.is_some_and(|(_, invariant)| invariants.contains(&invariant)) {
                        let text = format!("{bug:?}: {found:?}, expected one of {invariants:?}");
                        missed.lock().unwrap_or_else(PoisonError::into_inner).push(text);
                    }
                }
            });
        }
    });
    let missed = missed.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
