//! What those see of a run who watch its activities.

use std::sync::Arc;

use crate::activity::tests::watched;
use crate::operation::{Operation, OperationKind};

use super::testing::{ScriptedHost, run_as, wanted};

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
    assert_eq!(outcome.rows.len(), 4, "two resources, the stack and their provider");
}
