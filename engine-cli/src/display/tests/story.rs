//! Made-up runs: resources, steps and the events of whole operations.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use maloko_core::event::{Diagnostic, Event, Op, Outcome, Severity, Speaker, StepMetadata, Summary};
use maloko_core::operation::OperationKind;
use maloko_core::resource_state::ResourceState;
use maloko_core::urn::{STACK_TYPE, Urn};
use maloko_core::value::{PropertyMap, Value};

use crate::display::{DisplayMode, DisplayOptions, renderer};

pub(super) const LABEL: &str = "pulumi-python:dynamic/labels:Label";
const PROVIDER: &str = "urn:pulumi:dev::demo::pulumi:providers:pulumi-python::default::1234";

pub(super) fn urn(kind: &str, name: &str) -> Urn {
    Urn::new("dev", "demo", "", kind, name)
}

pub(super) fn stack_urn() -> Urn {
    urn(STACK_TYPE, "demo-dev")
}

pub(super) fn map<const N: usize>(members: [(&str, Value); N]) -> PropertyMap {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

pub(super) fn list<const N: usize>(items: [Value; N]) -> Value {
    Value::Array(items.into())
}

pub(super) fn resource<const N: usize>(name: &str, id: &str, inputs: [(&str, Value); N]) -> ResourceState {
    ResourceState {
        urn: urn(LABEL, name),
        custom: true,
        id: id.to_owned(),
        kind: LABEL.to_owned(),
        inputs: Arc::new(map(inputs)),
        parent: Some(stack_urn()),
        provider: PROVIDER.to_owned(),
        ..ResourceState::default()
    }
}

pub(super) fn with_outputs<const N: usize>(mut resource: ResourceState, outputs: [(&str, Value); N]) -> ResourceState {
    let mut all = PropertyMap::clone(&resource.inputs);
    all.extend(map(outputs));
    resource.outputs = Some(Arc::new(all));
    resource
}

pub(super) fn component(kind: &str, name: &str) -> ResourceState {
    ResourceState { urn: urn(kind, name), kind: kind.to_owned(), parent: Some(stack_urn()), ..ResourceState::default() }
}

pub(super) fn stack_resource() -> ResourceState {
    ResourceState { urn: stack_urn(), kind: STACK_TYPE.to_owned(), ..ResourceState::default() }
}

pub(super) fn step(op: Op, old: Option<ResourceState>, new: Option<ResourceState>) -> StepMetadata {
    let urn = new.as_ref().or(old.as_ref()).map(|resource| resource.urn.clone()).unwrap_or_default();
    StepMetadata {
        op,
        urn,
        old: old.map(Arc::new),
        new: new.map(Arc::new),
        keys: Vec::new(),
        diffs: Vec::new(),
        detailed_diff: None,
        internal: false,
        note: "",
    }
}

pub(super) fn say(urn: Option<Urn>, severity: Severity, message: &str) -> Event {
    Event::Diagnostic(Diagnostic {
        urn,
        severity,
        message: message.to_owned().into(),
        ephemeral: false,
        still_waiting: false,
        speaker: Speaker::Program,
    })
}

pub(super) fn summary<const N: usize>(outcome: Outcome, changes: [(&'static str, u64); N]) -> Summary {
    Summary {
        is_preview: false,
        outcome,
        maybe_corrupt: false,
        duration_seconds: 1.26,
        changes: changes.into(),
        policy_packs: Vec::new(),
    }
}

pub(super) fn options() -> DisplayOptions {
    DisplayOptions::new(OperationKind::Update, false, "demo", "dev")
}

pub(super) fn preview_options() -> DisplayOptions {
    DisplayOptions::new(OperationKind::Update, true, "demo", "dev")
}

/// What a display writes for these events, of which each happens 120 milliseconds after the one before.
pub(super) fn shown(mode: DisplayMode, options: DisplayOptions, events: Vec<Event>) -> String {
    let opened = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let mut renderer = renderer(mode, options, opened);
    let mut out = Vec::new();
    let mut at = Duration::ZERO;
    for event in events {
        at += Duration::from_millis(120);
        renderer.event(at, event, &mut out).unwrap();
    }
    renderer.finish(at, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub(super) fn prelude() -> Event {
    let config = [("demo:owner", "ops"), ("demo:token", "[secret]")];
    Event::Prelude(config.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

/// A first `up`: a provider that talks, a warning, a secret, outputs.
pub(super) fn creation() -> Vec<Event> {
    let before = resource(
        "readme",
        "",
        [("color", "ff0000".into()), ("name", "readme".into()), ("token", Value::secret("hunter2-hunter2".into()))],
    );
    let after =
        with_outputs(ResourceState { id: "7".to_owned(), ..before.clone() }, [("url", "http://localhost/7".into())]);
    let mut stack_after = stack_resource();
    let outputs = Arc::new(map([("url", "http://localhost/7".into()), ("count", 1.0.into())]));
    stack_after.outputs = Some(Arc::clone(&outputs));
    let readme = before.urn.clone();
    vec![
        prelude(),
        Event::StepStarted(step(Op::Create, None, Some(stack_resource()))),
        say(None, Severity::Output, "deploying labels\n"),
        Event::StepStarted(StepMetadata { internal: true, ..step(Op::Create, None, Some(provider_resource())) }),
        Event::StepDone(StepMetadata { internal: true, ..step(Op::Create, None, Some(provider_resource())) }),
        Event::StepStarted(step(Op::Create, None, Some(before))),
        say(Some(readme.clone()), Severity::Output, "POST /labels with hunter2-hunter2"),
        say(Some(readme), Severity::Warning, "the colour is deprecated\nuse another"),
        Event::StepDone(step(Op::Create, None, Some(after))),
        Event::StackOutputs { old: Arc::default(), new: outputs },
        Event::StepDone(step(Op::Create, None, Some(stack_after))),
        Event::Summary(summary(Outcome::Succeeded, [("create", 2)])),
        Event::End,
    ]
}

fn provider_resource() -> ResourceState {
    ResourceState { custom: true, ..component("pulumi:providers:pulumi-python", "default") }
}

/// An `up` with an update, a replacement, a deletion and something unchanged.
pub(super) fn changes() -> Vec<Event> {
    let unchanged = with_outputs(resource("same", "1", [("color", "aaaaaa".into())]), []);
    let old = with_outputs(resource("bug", "2", [("color", "ff0000".into()), ("tags", list(["a".into()]))]), []);
    let new = resource("bug", "2", [("color", "00ff00".into()), ("tags", list(["a".into(), "b".into()]))]);
    let updated = with_outputs(new.clone(), [("rev", "r2".into())]);
    let replaced_old = with_outputs(resource("name", "3", [("name", "x".into())]), []);
    let replaced_new = resource("name", "", [("name", "y".into())]);
    let made = with_outputs(ResourceState { id: "4".to_owned(), ..replaced_new.clone() }, []);
    let gone = with_outputs(resource("old", "5", [("color", "bbbbbb".into())]), []);
    let replacement = |op, new: &ResourceState| StepMetadata {
        keys: vec!["name".to_owned()],
        diffs: vec!["name".to_owned()],
        ..step(op, Some(replaced_old.clone()), Some(new.clone()))
    };
    let update = |new: &ResourceState| StepMetadata {
        diffs: vec!["color".to_owned(), "tags".to_owned()],
        ..step(Op::Update, Some(old.clone()), Some(new.clone()))
    };
    vec![
        prelude(),
        Event::StepStarted(step(Op::Same, Some(stack_resource()), Some(stack_resource()))),
        Event::StepStarted(step(Op::Same, Some(unchanged.clone()), Some(unchanged.clone()))),
        Event::StepDone(step(Op::Same, Some(unchanged.clone()), Some(unchanged))),
        Event::StepStarted(update(&new)),
        Event::StepDone(update(&updated)),
        Event::StepStarted(replacement(Op::CreateReplacement, &replaced_new)),
        Event::StepDone(replacement(Op::CreateReplacement, &made)),
        Event::StepStarted(replacement(Op::Replace, &made)),
        Event::StepDone(replacement(Op::Replace, &made)),
        Event::StepStarted(step(Op::Delete, Some(gone.clone()), None)),
        Event::StepDone(step(Op::Delete, Some(gone), None)),
        Event::StepStarted(step(Op::DeleteReplaced, Some(replaced_old.clone()), None)),
        Event::StepDone(step(Op::DeleteReplaced, Some(replaced_old.clone()), None)),
        Event::StackOutputs {
            old: Arc::new(map([("count", 1.0.into()), ("gone", true.into()), ("url", "u".into())])),
            new: Arc::new(map([("count", 2.0.into()), ("key", Value::secret("k".into())), ("url", "u".into())])),
        },
        Event::StepDone(step(Op::Same, Some(stack_resource()), Some(stack_resource()))),
        Event::Summary(summary(Outcome::Succeeded, [("delete", 1), ("replace", 1), ("same", 2), ("update", 1)])),
        Event::End,
    ]
}

/// An `up` in which a create fails, with a traceback, and the program ends with an error too.
pub(super) fn failure() -> Vec<Event> {
    let broken = resource("broken", "", [("color", "zz".into())]);
    let urn = broken.urn.clone();
    vec![
        prelude(),
        Event::StepStarted(step(Op::Same, Some(stack_resource()), Some(stack_resource()))),
        Event::StepStarted(step(Op::Create, None, Some(broken.clone()))),
        say(
            Some(urn),
            Severity::Error,
            "HTTP 422: Validation Failed\n  File \"labels.py\", line 12, in create\n    raise Error(reply)",
        ),
        Event::StepFailed(step(Op::Create, None, Some(broken))),
        say(None, Severity::Error, "the program raised an error\nTraceback (most recent call last):"),
        Event::StepDone(step(Op::Same, Some(stack_resource()), Some(stack_resource()))),
        Event::Summary(summary(Outcome::Failed, [("same", 1)])),
        Event::End,
    ]
}

/// A preview with something unknown, a secret that changes, and a replacement.
pub(super) fn preview() -> Vec<Event> {
    let old = with_outputs(
        resource(
            "b",
            "2",
            [("from", "arn:1".into()), ("token", Value::secret("old-token-1".into())), ("zone", "x".into())],
        ),
        [],
    );
    let new = resource(
        "b",
        "2",
        [
            ("from", Value::Unknown),
            ("list", list(["x".into(), Value::Unknown])),
            ("token", Value::secret("new-token-2".into())),
            ("zone", "x".into()),
        ],
    );
    let moved = resource("a", "1", [("zone", "x".into())]);
    let moved_new = resource("a", "", [("zone", "y".into())]);
    let replacement = |op| StepMetadata {
        keys: vec!["zone".to_owned()],
        diffs: vec!["zone".to_owned()],
        ..step(op, Some(moved.clone()), Some(moved_new.clone()))
    };
    let both = |step: StepMetadata| [Event::StepStarted(step.clone()), Event::StepDone(step)];
    let mut changes = BTreeMap::new();
    changes.extend([("replace", 1), ("same", 1), ("update", 1)]);
    let mut events =
        vec![prelude(), Event::StepStarted(step(Op::Same, Some(stack_resource()), Some(stack_resource())))];
    events.extend(both(replacement(Op::CreateReplacement)));
    events.extend(both(replacement(Op::Replace)));
    events.extend(both(replacement(Op::DeleteReplaced)));
    events.extend(both(step(Op::Update, Some(old), Some(new))));
    events.extend([
        Event::StackOutputs {
            old: Arc::new(map([("arn", "arn:1".into())])),
            new: Arc::new(map([("arn", Value::Unknown)])),
        },
        Event::StepDone(step(Op::Same, Some(stack_resource()), Some(stack_resource()))),
        Event::Summary(Summary { is_preview: true, changes, ..summary(Outcome::Succeeded, []) }),
        Event::End,
    ]);
    events
}
