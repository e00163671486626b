//! What those see of a run who watch its activities.
#![expect(clippy::panic, reason = "a test that has nothing to look at has failed")]

use std::sync::Arc;

use crate::activity::tests::watched;
use crate::operation::{Operation, OperationKind};

use super::testing::{ScriptedHost, Wanted, run, run_as, wanted};

#[test]
fn a_run_tells_of_its_calls_and_of_its_waits() {
    let (notes, activities) = watched();
    let operation = Operation { activities, parallel: 1, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let outcome = run_as(&Arc::<ScriptedHost>::default(), operation, Vec::new(), &[wanted("a", "x"), wanted("b", "x")]);
    let told = notes.all();
    for name in ["a", "b"] {
        assert!(told.iter().any(|note| note.ends_with(&format!("Call create {name} 1"))), "{told:?}");
        assert!(told.iter().any(|note| note.contains("Disk the journal") && note.contains(name)), "{told:?}");
    }
    let begun = told.iter().filter(|note| note.ends_with(" 1")).count();
    assert_eq!(told.iter().filter(|note| note.ends_with(" done")).count(), begun, "{told:?}");
    assert_eq!(outcome.resources.len(), 4, "two resources, the stack and their provider");
}

/// The reported waits for what comes before, without their numbers.
fn dependency_waits(told: &[String]) -> Vec<&str> {
    told.iter().filter_map(|note| note.split_once(" Dependency ").map(|(_, wait)| wait)).collect()
}

/// The place of a note in what was told.
fn place(told: &[String], end: &str) -> usize {
    told.iter().position(|note| note.ends_with(end)).unwrap_or_else(|| panic!("no {end} in {told:?}"))
}

/// `b` takes an output of `a`.
fn chain(zone: &str) -> [Wanted; 2] {
    [wanted("a", zone), Wanted { from: Some("a"), ..wanted("b", "x") }]
}

#[test]
fn a_deletion_waits_for_those_of_its_dependents() {
    let host = Arc::<ScriptedHost>::default();
    let first = run(&host, OperationKind::Update, false, Vec::new(), &chain("x"));
    let (notes, activities) = watched();
    let operation = Operation { activities, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let outcome = run_as(&host, operation, first.resources.clone(), &[]);
    let told = notes.all();
    assert_eq!(dependency_waits(&told), ["what is deleted before it a 1"], "{told:?} {}", outcome.messages);
    let wait = told[place(&told, "what is deleted before it a 1")].split(' ').next().unwrap_or_default();
    let ended = place(&told, &format!("{wait} done"));
    assert!(place(&told, "Call delete b 1") < ended, "{told:?}");
    assert!(ended < place(&told, "Call delete a 1"), "{told:?}");

    // A preview deletes nothing, so nothing waits.
    let (notes, activities) = watched();
    let operation = Operation { activities, dry_run: true, ..Operation::new(OperationKind::Update, "proj", "dev") };
    run_as(&host, operation, first.resources, &[]);
    assert!(dependency_waits(&notes.all()).is_empty());
}

#[test]
fn a_replacement_waits_for_the_deletion_of_its_dependents() {
    let host = ScriptedHost::deletes_first();
    let first = run(&host, OperationKind::Update, false, Vec::new(), &chain("x"));
    let (notes, activities) = watched();
    let operation = Operation { activities, ..Operation::new(OperationKind::Update, "proj", "dev") };
    let outcome = run_as(&host, operation, first.resources, &chain("y"));
    let told = notes.all();
    assert!(dependency_waits(&told).contains(&"what is deleted before it a 1"), "{told:?} {:?}", outcome.steps);
    assert!(place(&told, "Call delete b 1") < place(&told, "Call delete a 1"), "{told:?}");
}
