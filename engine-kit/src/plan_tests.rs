//! Plan entries that several steps make up.

use maloko_core::Urn;
use maloko_core::event::{Op, StepMetadata};
use maloko_core::redaction::Redactor;

use crate::plan::{entries, merge};
use crate::step_log::Stage;

#[test]
fn what_replaces_is_listed_once_whichever_steps_name_it() {
    let mut known = vec!["region".to_owned(), "zone".to_owned()];
    merge(&mut known, &["zone".to_owned(), "engine".to_owned()]);
    assert_eq!(known, ["region", "zone", "engine"]);
}

#[test]
fn what_replaces_is_what_any_step_of_a_resource_names() {
    let urn = Urn::unchecked("urn:pulumi:dev::project::pulumi-python:dynamic:Resource::a");
    let begun = |op, keys: &[&str]| {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        let step = StepMetadata {
            op,
            urn: urn.clone(),
            old: None,
            new: None,
            keys,
            diffs: Vec::new(),
            detailed_diff: None,
            internal: false,
            note: "",
        };
        (Stage::Begun, step)
    };
    let steps = [
        begun(Op::CreateReplacement, &["region", "zone"]),
        begun(Op::Replace, &["zone", "engine"]),
        begun(Op::Same, &[]),
    ];
    let entries = entries(&steps, &Redactor::new());
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].replaces, ["region", "zone", "engine"]);
}
