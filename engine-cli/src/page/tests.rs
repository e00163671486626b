//! What of a run its page shows, from the events and activities of a run.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that has nothing to look at has failed")]

use std::sync::Arc;

use jiff::Timestamp;
use maloko_core::activity::{Activity, ActivityEnd, ActivityKind, ActivityWatcher};
use maloko_core::event::{Diagnostic, Event, EventSink, Op, Outcome, Severity, Speaker, StepMetadata, Summary};
use maloko_core::provider::{ProviderError, ProviderErrorKind};
use maloko_core::redaction::Redactor;
use maloko_core::resource_state::ResourceState;
use maloko_core::state::Snapshot;
use maloko_core::urn::Urn;
use maloko_core::value::{PropertyMap, Value};

use super::data::{self, PageData};
use super::past::{MANY, unpack};
use super::{Beginning, Recorder, render};

pub(super) fn urn(name: &str) -> Urn {
    Urn::new("dev", "proj", "", "app:index:Thing", name)
}

fn resource(name: &str, inputs: &[(&str, Value)]) -> Arc<ResourceState> {
    let inputs: PropertyMap = inputs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    let (urn, inputs) = (urn(name), Arc::new(inputs));
    Arc::new(ResourceState { urn, custom: true, kind: "app:index:Thing".into(), inputs, ..ResourceState::default() })
}

fn step(op: Op, old: Option<Arc<ResourceState>>, new: Option<Arc<ResourceState>>) -> StepMetadata {
    let urn = new.as_ref().or(old.as_ref()).expect("a resource").urn.clone();
    let (keys, diffs) = (Vec::new(), Vec::new());
    StepMetadata { op, urn, old, new, keys, diffs, detailed_diff: None, internal: false, note: "" }
}

fn recorder(base: Vec<Arc<ResourceState>>) -> Recorder {
    let beginning = Beginning {
        project: "proj".into(),
        stack: "dev".into(),
        kind: "update",
        dry_run: false,
        at: Timestamp::UNIX_EPOCH,
        message: String::new(),
        plan: vec![(urn("web").to_string(), "replace".into())],
    };
    Recorder::new(beginning, Arc::new(Redactor::new()), &Snapshot { resources: base, ..Snapshot::default() })
}

fn ended(recorder: &Recorder, outcome: Outcome) -> data::Run {
    recorder.emit(Event::Summary(Summary {
        is_preview: false,
        outcome,
        maybe_corrupt: false,
        duration_seconds: 1.0,
        changes: [("replace", 2)].into(),
        policy_packs: Vec::new(),
    }));
    recorder.data().run.expect("the page of a run")
}

#[test]
fn a_replacement_names_the_one_that_led_to_it() {
    let old = resource("db", &[("size", 1.0.into())]);
    let new = resource("db", &[("size", 2.0.into())]);
    let mut web = (*resource("web", &[("host", "db".into())])).clone();
    web.dependencies = vec![urn("db")];
    web.property_dependencies = [("host".to_owned(), vec![urn("db")])].into();
    let web = Arc::new(web);
    let recorder = recorder(vec![Arc::clone(&old), Arc::clone(&web)]);
    let mut first = step(Op::Replace, Some(old), Some(new));
    first.keys = vec!["size".into()];
    recorder.emit(Event::StepStarted(first.clone()));
    recorder.emit(Event::StepDone(first));
    let mut second = step(Op::Replace, Some(Arc::clone(&web)), Some(web));
    second.keys = vec!["host".into()];
    recorder.emit(Event::StepStarted(second));
    let run = ended(&recorder, Outcome::Failed);
    assert_eq!(run.outcome, "failed");
    let [db, web] = &run.steps[..] else { panic!("two steps: {:?}", run.steps) };
    assert!(db.because.is_none() && db.changes[0].replace && db.status == "done");
    assert_eq!((db.changes[0].old.clone(), db.changes[0].new.clone()), (Some(1.into()), Some(2.into())));
    let cause = web.because.as_ref().expect("a cause");
    assert_eq!((cause.resource, cause.kind.as_str(), cause.property.as_deref()), (0, "property", Some("host")));
    assert_eq!(web.status, "running");
    let planned: Vec<_> = run.plan.iter().map(|it| (it.resource, it.op.as_str())).collect();
    assert_eq!(planned, [(1, "replace")]);
}

#[test]
fn a_deletion_that_comes_before_its_replacement_says_why() {
    let (old, new) = (resource("db", &[("size", 1.0.into())]), resource("db", &[("size", 2.0.into())]));
    let recorder = recorder(vec![Arc::clone(&old)]);
    recorder.note_changes();
    let delete = step(Op::DeleteReplaced, Some(Arc::clone(&old)), None);
    let mut replace = step(Op::Replace, Some(old), Some(new));
    replace.keys = vec!["size".into()];
    recorder.emit(Event::StepStarted(delete.clone()));
    recorder.emit(Event::StepDone(delete));
    let told = |recorder: &Recorder| {
        let more = serde_json::to_value(recorder.more(true).expect("something is new")).expect("it is JSON");
        more["steps"].as_array().expect("steps").iter().map(|step| step[1]["keys"].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(told(&recorder), ["null"]);
    assert!(recorder.more(true).is_none(), "nothing is new");
    recorder.emit(Event::StepStarted(replace.clone()));
    // Who follows the run is told of the deletion again.
    assert_eq!(told(&recorder), ["[\"size\"]", "[\"size\"]"]);
    recorder.emit(Event::StepDone(replace));
    let run = ended(&recorder, Outcome::Succeeded);
    let keys: Vec<_> = run.steps.iter().map(|step| (step.op.as_str(), step.keys.join(","))).collect();
    assert_eq!(keys, [("delete-replaced", "size".to_owned()), ("replace", "size".to_owned())]);
    assert!(!recorder.data().resources[0].gone);
}

#[test]
fn calls_have_their_attempts_errors_and_ends() {
    let recorder = recorder(Vec::new());
    let create = step(Op::Create, None, Some(resource("web", &[("password", Value::secret("hunter22".into()))])));
    recorder.emit(Event::StepStarted(create.clone()));
    let call = |attempt| Activity { attempt, ..Activity::new(ActivityKind::Call, "create", Some(urn("web"))) };
    recorder.began(1, &call(1));
    let mut error = ProviderError::new(ProviderErrorKind::Raised, "hunter22 was refused");
    error.traceback = "in create(hunter22)".to_owned();
    recorder.ended(1, ActivityEnd::Failed(&error));
    recorder.began(2, &call(2));
    recorder.ended(2, ActivityEnd::GivenUp);
    recorder.began(3, &Activity::new(ActivityKind::Call, "read", Some(urn("web"))));
    // A wait that was none is not shown.
    recorder.began(4, &Activity::new(ActivityKind::Permit, "--parallel", Some(urn("web"))));
    recorder.ended(4, ActivityEnd::Done);
    recorder.emit(Event::StepFailed(create));
    let data = recorder.data();
    let run = data.run.as_ref().expect("the page of a run");
    assert_eq!(run.outcome, "unfinished");
    let calls: Vec<_> = run.activities.iter().map(|it| (it.attempt, it.outcome.as_deref(), it.resource)).collect();
    assert_eq!(calls, [(None, Some("failed"), Some(0)), (Some(2), Some("unknown"), Some(0)), (None, None, Some(0))]);
    assert_eq!(run.activities[0].error, "[secret] was refused");
    assert_eq!(run.activities[0].traceback, "in create([secret])");
    assert_eq!(run.steps[0].status, "failed");
    assert!(!render(&data).expect("a page").contains("hunter22"));
}

#[test]
fn values_that_json_cannot_say_are_marked() {
    let like_a_mark = Value::Object(PropertyMap::from([("$".to_owned(), "secret".into())]));
    let values = [
        ("secret", Value::secret("hunter22".into())),
        ("unknown", Value::Unknown),
        ("mark", like_a_mark),
        ("infinite", f64::INFINITY.into()),
        ("whole", 3.0.into()),
        // A value that is secret elsewhere.
        ("url", "https://me:hunter22@host".into()),
    ];
    let recorder = recorder(vec![resource("web", &values)]);
    let new = resource("web", &values);
    recorder.emit(Event::StepStarted(step(Op::Update, Some(Arc::clone(&new)), Some(new))));
    let inputs = recorder.data().resources[0].inputs.clone();
    let expected = serde_json::json!({
        "secret": { "$": "secret" },
        "unknown": { "$": "unknown" },
        "mark": { "$": "object", "members": { "$": "secret" } },
        "infinite": { "$": "number", "text": "inf" },
        "whole": 3,
        "url": "https://me:[secret]@host",
    });
    assert_eq!(serde_json::Value::Object(inputs), expected);
}

#[test]
fn a_resource_that_was_deleted_is_gone_and_stays_on_the_page() {
    let old = resource("web", &[]);
    let recorder = recorder(vec![Arc::clone(&old)]);
    let delete = step(Op::Delete, Some(old), None);
    recorder.emit(Event::StepStarted(delete.clone()));
    recorder.emit(Event::StepDone(delete));
    recorder.emit(Event::Diagnostic(Diagnostic {
        urn: Some(urn("web")),
        severity: Severity::Warning,
        message: "farewell".into(),
        ephemeral: false,
        still_waiting: false,
        speaker: Speaker::Engine,
    }));
    let data: PageData = recorder.data();
    assert!(data.resources[0].gone);
    let run = data.run.expect("the page of a run");
    assert_eq!((run.diagnostics[0].resource, run.diagnostics[0].severity.as_str()), (Some(0), "warning"));
}

#[test]
fn those_who_follow_a_run_are_told_what_was_planned_of_a_resource_that_comes_up() {
    let recorder = recorder(Vec::new());
    recorder.note_changes();
    recorder.emit(Event::StepStarted(step(Op::Create, None, Some(resource("web", &[])))));
    let more = serde_json::to_value(recorder.more(true).expect("a step is new")).expect("it is JSON");
    assert_eq!(more["run"]["plan"], serde_json::json!([{ "resource": 0, "op": "replace" }]));
}

#[test]
fn those_who_follow_a_run_are_told_of_its_end() {
    let recorder = recorder(Vec::new());
    recorder.note_changes();
    assert!(recorder.more(true).is_none());
    ended(&recorder, Outcome::Succeeded);
    let more = serde_json::to_value(recorder.more(true).expect("the end is new")).expect("it is JSON");
    assert_eq!(more["run"]["outcome"], "succeeded");
}

#[test]
fn of_a_large_run_a_library_keeps_the_outline() {
    let recorder = recorder(Vec::new());
    for number in 0..=MANY {
        let create = step(Op::Create, None, Some(resource(&format!("web-{number}"), &[("size", 1.0.into())])));
        recorder.emit(Event::StepStarted(create.clone()));
        recorder.emit(Event::StepDone(create));
    }
    let kept = maloko_kit::PageRecorder::record(&recorder).and_then(|record| unpack(&record)).expect("a record");
    assert_eq!(kept.resources.len(), MANY + 1);
    assert!(kept.resources.iter().all(|resource| resource.inputs.is_empty()));
}
