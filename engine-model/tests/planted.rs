//! Every planted bug turns the model red: this program has no other test, which would meet the bugs. `make model-bugs` builds the engine with them.
#![cfg(feature = "planted-bugs")]

use maloko_core::fail_points::turn_on;
use maloko_model::generate;
use maloko_model::rules::Counts;
use maloko_model::run::run;

/// The lifecycles of seed 1 in which a bug must be seen.
const PROGRAMS: u64 = 3000;

/// Every bug, the lifecycle that is known to show it, and the invariants by which it may be noticed first.
const BUGS: [(&str, u64, &[&str]); 17] = [
    ("planted::partial-update-stores-new-inputs", 298, &["resources"]),
    ("planted::init-errors-ignored", 24, &["steps", "calls"]),
    ("planted::no-change-replaces", 23, &["steps", "calls"]),
    ("planted::replacement-ignores-changes", 13, &["calls"]),
    ("planted::deletes-after-program-failure", 2, &["steps", "calls"]),
    ("planted::deleted-with-inverted", 23, &["no orphan", "calls"]),
    ("planted::deletes-in-wrong-order", 0, &["order of calls"]),
    ("planted::pending-delete-lost", 0, &["no orphan"]),
    ("planted::preview-keeps-outputs", 11, &["calls", "steps", "preview true"]),
    ("planted::retain-ignored-for-old-object", 169, &["calls"]),
    ("planted::failed-create-recorded", 7, &["resources", "no duplicate"]),
    ("planted::old-outputs-kept", 0, &["resources", "calls"]),
    ("planted::refresh-keeps-gone", 55, &["resources", "calls"]),
    ("planted::dependents-of-failure-run", 115, &["steps", "calls", "finished"]),
    ("planted::any-provider-of-the-package", 2, &["calls"]),
    ("planted::unchanged-provider-takes-new-inputs", 30, &["calls"]),
    ("planted::replaced-provider-not-kept", 74, &["steps", "finished"]),
];

/// A lifecycle that shows the bug, and by which invariant: the known one, or after a change of the generator the first.
fn noticed(bug: &'static str, known: u64) -> Option<(u64, &'static str)> {
    let _on = turn_on(bug);
    std::iter::once(known).chain(0..PROGRAMS).find_map(|program| {
        let failure = run(&generate::lifecycle(1, program), &mut Counts::default()).err()?;
        Some((program, failure.broken.invariant.name()))
    })
}

#[test]
fn every_planted_bug_is_noticed() {
    for (bug, known, invariants) in BUGS {
        let found = noticed(bug, known);
        let expected = found.is_some_and(|(_, invariant)| invariants.contains(&invariant));
        assert!(expected, "{bug}: {found:?}, expected one of {invariants:?}");
    }
}
