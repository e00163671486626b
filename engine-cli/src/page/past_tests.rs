//! What the history keeps of a run.
#![expect(clippy::expect_used, reason = "a test that has nothing to look at has failed")]

use maloko_core::state::HistoryEntry;
use serde_json::json;

use std::sync::Arc;

use maloko_core::redaction::Redactor;

use super::{ACTIVITIES, CHANGES, MAX_BYTES, Past, record, run_of};
use crate::page::data::{Activity, Change, PageData, PathItem, PlannedStep, Resource, Run, Step};
use crate::page::shown::Shower;

fn data(resources: usize, activities: usize) -> PageData {
    let inputs = json!({ "size": 1 }).as_object().cloned().unwrap_or_default();
    let resource = |number| Resource { urn: format!("urn:{number}"), inputs: inputs.clone(), ..Resource::default() };
    let activity = |number: usize| Activity {
        kind: "call".into(),
        name: format!("call {number}"),
        duration: Some(1.0),
        outcome: Some("ok".into()),
        ..Activity::default()
    };
    let same = Step { resource: 1, op: "same".into(), ..Step::default() };
    let change = Change { path: "size".into(), kind: "update".into(), new: Some(json!(null)), ..Change::default() };
    let update = Step { op: "update".into(), changes: vec![change], ..Step::default() };
    let last = PathItem { activity: Some(activities - 1), ..PathItem::default() };
    let run = Run {
        steps: vec![update, same],
        activities: (0..activities).map(activity).collect(),
        critical_path: vec![last],
        ..Run::default()
    };
    PageData { resources: (0..resources).map(resource).collect(), run: Some(run), ..PageData::default() }
}

fn kept(data: PageData) -> PageData {
    let run = record(data);
    assert!(run.as_ref().is_some_and(|run| run.len() <= MAX_BYTES));
    run_of(&HistoryEntry { run, ..HistoryEntry::default() }).expect("it can be read")
}

#[test]
fn a_record_keeps_what_a_run_changed() {
    let kept = kept(data(2, 3));
    assert_eq!(kept.resources[0].inputs["size"], 1);
    assert!(kept.resources[1].inputs.is_empty(), "it was not changed");
    let run = kept.run.expect("a run");
    assert_eq!(run.steps.len(), 1);
    // `null` is another thing than nothing.
    assert_eq!((run.steps[0].changes[0].new.clone(), run.steps[0].changes[0].old.clone()), (Some(json!(null)), None));
    assert_eq!(run.activities.len(), 3);
}

#[test]
fn what_was_planned_and_had_not_to_be_done_is_kept() {
    let mut data = data(2, 3);
    let run = data.run.as_mut().expect("a run");
    run.plan = vec![PlannedStep { resource: 1, op: "update".into() }];
    let kept = kept(data);
    assert!(kept.resources[1].inputs.is_empty(), "it was not changed");
    let steps = kept.run.expect("a run").steps;
    assert_eq!(steps.iter().map(|step| step.op.as_str()).collect::<Vec<_>>(), ["update", "same"]);
}

#[test]
fn of_many_short_calls_those_on_the_critical_path_are_kept() {
    let run = kept(data(2, ACTIVITIES + 1)).run.expect("a run");
    let last = run.critical_path[0].activity.expect("it is kept");
    assert_eq!(run.activities[last].name, format!("call {ACTIVITIES}"));
    assert_eq!(run.activities.len(), 1);
}

#[test]
fn what_cannot_be_read_is_no_run() {
    for run in [None, Some("no base64!".to_owned()), Some("aGVsbG8=".to_owned())] {
        assert!(run_of(&HistoryEntry { run, ..HistoryEntry::default() }).is_none());
    }
}

#[test]
fn of_ten_thousand_creates_the_outline_fits() {
    let resource = |number: usize| Resource {
        urn: format!("urn:pulumi:dev::project::pulumi-python:dynamic:Resource::item-{number}"),
        name: format!("item-{number}"),
        kind: "pulumi-python:dynamic:Resource".into(),
        ..Resource::default()
    };
    let step = |resource: usize| {
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let began = (resource * 7919 % 500_000) as f64 / 100.0;
        Step {
            resource,
            op: "create".into(),
            status: "done".into(),
            began,
            ended: Some(began + 37.01),
            ..Step::default()
        }
    };
    let run = Run { steps: (0..10_000).map(step).collect(), ..Run::default() };
    let whole = PageData { resources: (0..10_000).map(resource).collect(), run: Some(run), ..PageData::default() };
    assert_eq!(kept(whole).run.map(|run| run.steps.len()), Some(10_000));
}

/// An entry of a run that took these steps, each of the resource `urn:0`.
fn entry(steps: Vec<Step>) -> HistoryEntry {
    let resource = Resource { urn: "urn:0".into(), ..Resource::default() };
    let run = Run { steps, ..Run::default() };
    let data = PageData { resources: vec![resource], run: Some(run), ..PageData::default() };
    HistoryEntry { run: record(data), kind: "update".into(), ..HistoryEntry::default() }
}

fn change(new: &str) -> Change {
    Change { path: "host".into(), kind: "update".into(), new: Some(json!([new])), ..Change::default() }
}

fn step(op: &str, changes: Vec<Change>) -> Step {
    Step { op: op.into(), status: "done".into(), changes, ..Step::default() }
}

/// What the page of a stack with `urn:0` tells of its past.
fn told(past: &Past, redactor: Redactor) -> Resource {
    let resource = Resource { urn: "urn:0".into(), ..Resource::default() };
    let page = PageData { resources: vec![resource], ..PageData::default() };
    past.complete(page, &Shower::new(Arc::new(redactor))).resources.remove(0)
}

#[test]
fn the_steps_of_a_replacement_are_one_operation_with_its_properties() {
    let mut replace = step("replace", Vec::new());
    replace.keys = vec!["host".into()];
    let failed = Step { status: "failed".into(), ..step("delete-replaced", Vec::new()) };
    let mut past = Past::default();
    past.take(2, &entry(vec![step("create-replacement", vec![change("b")]), replace, failed]));
    past.take(1, &entry(vec![step("create", vec![change("a")])]));
    let operations = told(&past, Redactor::new()).operations;
    let seen: Vec<_> = operations
        .iter()
        .map(|it| (it.version, it.op.as_str(), it.failed, it.keys.join(","), it.changes[0].new.clone()))
        .collect();
    assert_eq!(
        seen,
        [
            (2, "replace", true, "host".to_owned(), Some(json!(["b"]))),
            (1, "create", false, String::new(), Some(json!(["a"]))),
        ]
    );
}

#[test]
fn what_has_become_a_secret_since_is_not_told() {
    let mut past = Past::default();
    past.take(1, &entry(vec![step("update", vec![change("me:hunter22@host")])]));
    let redactor = Redactor::new();
    redactor.learn("hunter22");
    let text = serde_json::to_string(&told(&past, redactor)).expect("it is JSON");
    assert!(text.contains("[secret]") && !text.contains("hunter22"), "{text}");
}

#[test]
fn of_much_that_was_changed_the_newest_is_told() {
    let mut past = Past::default();
    let long: String = (0..CHANGES * 2 / 3).map(|n| char::from(b'a' + u8::try_from(n * n % 23).unwrap_or(0))).collect();
    for version in [3, 2] {
        past.take(version, &entry(vec![step("update", vec![change(&long)])]));
    }
    past.take(1, &entry(vec![step("update", vec![change("short")])]));
    let known: Vec<_> =
        told(&past, Redactor::new()).operations.iter().map(|it| (it.version, it.changes.len())).collect();
    assert_eq!(known, [(3, 1), (2, 0), (1, 1)]);
}
