//! What the history keeps of a run.
#![expect(clippy::expect_used, reason = "a test that has nothing to look at has failed")]

use maloko_core::state::HistoryEntry;
use serde_json::json;

use super::{ACTIVITIES, MOST, record, run_of};
use crate::page::data::{Activity, Change, PageData, PathItem, Resource, Run, Step};

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
    assert!(run.as_ref().is_some_and(|run| run.len() <= MOST));
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
