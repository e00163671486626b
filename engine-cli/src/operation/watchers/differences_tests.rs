//! Which differences are kept.

use maloko_core::event::{Event, EventSink, Op, StepMetadata};
use maloko_core::urn::Urn;

use super::{Differences, Redactor};

fn created(name: &str) -> StepMetadata {
    let urn = Urn::new("dev", "p", "", "a:b:Label", name);
    let (old, new, detailed_diff) = (None, None, None);
    let (keys, diffs) = (Vec::new(), Vec::new());
    StepMetadata { op: Op::Create, urn, old, new, keys, diffs, detailed_diff, internal: false, note: "" }
}

#[test]
fn the_first_are_kept_without_secrets() {
    let differences = Differences::default();
    differences.emit(Event::StepStarted(created("begun")));
    for name in ["one", "two", "three", "four", "five", "six"] {
        differences.emit(Event::StepDone(created(name)));
    }
    let redactor = Redactor::new();
    redactor.learn("three");
    let wanted = ["one", "two", "[secret]", "four", "five"].map(|name| format!("create Label {name}"));
    assert_eq!(differences.lines(&redactor), wanted);
}
