use std::collections::BTreeMap;
use std::sync::Arc;

use insta::assert_snapshot;
use maloko_core::event::{DetailedDiff, DiffKind, Event, Op, Outcome, PropertyDiff, Severity, StepMetadata, Summary};
use maloko_core::resource_state::ResourceState;
use maloko_core::value::{Asset, AssetSource, ResourceReference, SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXT, Value};
use serde_json::{Value as Json, json};

use super::story::{
    changes, creation, failure, list, map, options, preview, preview_options, resource, say, shown, stack_urn, step,
    summary, urn, with_outputs,
};
use crate::display::{DisplayMode, DisplayOptions};

fn lines(options: DisplayOptions, events: Vec<Event>) -> Vec<Json> {
    let text = shown(DisplayMode::JsonEvents, options, events);
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn document(options: DisplayOptions, events: Vec<Event>) -> Json {
    serde_json::from_str(&shown(DisplayMode::PreviewJson, options, events)).unwrap()
}

/// What the conformance runner reads: the operations, those that failed too, and the counts.
fn operations(lines: &[Json]) -> Vec<String> {
    lines
        .iter()
        .filter_map(|line| {
            let (event, failed) = match (line.get("resourcePreEvent"), line.get("resOpFailedEvent")) {
                (Some(event), _) => (event, ""),
                (_, Some(event)) => (event, " failed"),
                _ => return None,
            };
            let metadata = &event["metadata"];
            let name = metadata["urn"].as_str()?.rsplit("::").next()?;
            Some(format!("{}{failed} {name}", metadata["op"].as_str()?))
        })
        .collect()
}

#[test]
fn every_line_is_an_event_with_its_number_and_time() {
    for events in [creation(), changes(), failure(), preview()] {
        let lines = lines(options(), events);
        for (number, line) in lines.iter().enumerate() {
            assert_eq!(line["sequence"], number);
            assert!(line["timestamp"].as_u64() >= Some(1_700_000_000), "{line}");
            assert_eq!(line.as_object().unwrap().len(), 3, "one event in {line}");
        }
        assert_eq!(lines.last().unwrap()["cancelEvent"], json!({}));
        assert!(lines[lines.len() - 2].get("summaryEvent").is_some());
    }
}

#[test]
fn no_json_gives_a_terminal_orders_and_all_of_it_says_what_was_said() {
    let said = "red \u{9b}31m\u{7f}\u{202e}";
    for mode in [DisplayMode::JsonEvents, DisplayMode::PreviewJson, DisplayMode::SummaryJson] {
        let text = shown(mode, preview_options(), vec![say(None, Severity::Error, said), summary_of_failure()]);
        assert!(!text.contains(['\u{9b}', '\u{7f}', '\u{202e}']), "{mode:?}: {text:?}");
        assert!(text.contains("red \\u009b31m\\u007f\\u202e"), "{mode:?}: {text:?}");
    }
}

fn summary_of_failure() -> Event {
    Event::Summary(summary(Outcome::Failed, [("create", 1)]))
}

#[test]
fn the_lines_of_a_creation_are_complete() {
    assert_snapshot!(shown(DisplayMode::JsonEvents, options(), creation()));
}

#[test]
fn operations_come_in_order_and_internal_ones_not_at_all() {
    assert_eq!(operations(&lines(options(), creation())), ["create demo-dev", "create readme"]);
    assert_eq!(
        operations(&lines(options(), changes())),
        [
            "same demo-dev",
            "same same",
            "update bug",
            "create-replacement name",
            "replace name",
            "delete old",
            "delete-replaced name"
        ]
    );
    assert_eq!(operations(&lines(options(), failure())), ["same demo-dev", "create broken", "create failed broken"]);
}

#[test]
fn the_event_log_has_internal_operations_too() {
    let text = shown(DisplayMode::EventLog, options(), creation());
    let logged: Vec<Json> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(operations(&logged), ["create demo-dev", "create default", "create readme"]);
    let numbers: Vec<u64> = logged.iter().filter_map(|line| line["sequence"].as_u64()).collect();
    assert!(numbers.iter().copied().eq(0..logged.len() as u64), "{numbers:?}");
}

#[test]
fn the_message_log_has_the_messages_of_the_event_log_alone() {
    let read = |mode| -> Vec<Json> {
        shown(mode, options(), failure()).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let (logged, mut all) = (read(DisplayMode::MessageLog), read(DisplayMode::EventLog));
    all.retain(|line| line.get("diagnosticEvent").is_some());
    let messages = |lines: &[Json]| lines.iter().map(|line| line["diagnosticEvent"].clone()).collect::<Vec<_>>();
    assert!(!all.is_empty());
    assert_eq!(messages(&logged), messages(&all));
}

#[test]
fn only_logical_operations_are_marked_so() {
    let lines = lines(options(), changes());
    let logical: BTreeMap<&str, bool> = lines
        .iter()
        .filter_map(|line| line.get("resourcePreEvent"))
        .map(|event| (event["metadata"]["op"].as_str().unwrap(), event["metadata"].get("logical").is_some()))
        .collect();
    let expected = [
        ("create-replacement", false),
        ("delete", true),
        ("delete-replaced", false),
        ("replace", true),
        ("same", true),
        ("update", true),
    ];
    assert_eq!(logical, expected.into());
}

#[test]
fn the_summary_says_how_it_ended() {
    let failed = lines(options(), failure());
    assert_eq!(
        failed[failed.len() - 2]["summaryEvent"],
        json!({
            "maybeCorrupt": false, "durationSeconds": 1, "resourceChanges": {"same": 1}, "PolicyPacks": {},
            "isPreview": false, "result": "failed"
        })
    );
}

#[test]
fn special_values_have_their_wire_form() {
    let reference =
        ResourceReference { urn: urn("a:b:C", "other"), id: Some("5".to_owned()), package_version: String::new() };
    let asset = Asset { hash: "abc".to_owned(), source: AssetSource::Path("./file".to_owned()) };
    let inputs = [
        ("asset", asset.into()),
        ("flag", true.into()),
        ("fraction", 0.5.into()),
        ("nan", f64::NAN.into()),
        ("nested", list([Value::Object(map([("secret", Value::secret("deep-secret".into()))])), Value::Null])),
        ("reference", reference.into()),
        ("sealed", Value::Sealed("v1:abc:def".into())),
        ("unknown", Value::Unknown),
        ("whole", 3.0.into()),
    ];
    let step = step(Op::Create, None, Some(resource("special", "", inputs)));
    let lines = lines(options(), vec![Event::StepStarted(step)]);
    let secret = json!({SIGNATURE_KEY: SECRET_SIGNATURE, "ciphertext": "[secret]"});
    assert_eq!(
        lines[0]["resourcePreEvent"]["metadata"]["new"]["inputs"],
        json!({
            "asset": {SIGNATURE_KEY: "c44067f5952c0a294b673a41bacd8c17", "hash": "abc", "path": "./file"},
            "flag": true,
            "fraction": 0.5,
            "nan": {SIGNATURE_KEY: "8ad145fe-0d11-4827-bfd7-1abcbf086f5c", "value": "7ff8000000000000"},
            "nested": [{"secret": secret}, null],
            "reference": {
                SIGNATURE_KEY: "5cf8f73096256a8f31e491e813e4eb8e",
                "urn": "urn:pulumi:dev::demo::a:b:C::other", "id": "5", "packageVersion": ""
            },
            "sealed": secret,
            "unknown": UNKNOWN_TEXT,
            "whole": 3
        })
    );
}

#[test]
fn a_preview_document_is_complete() {
    assert_snapshot!(shown(DisplayMode::PreviewJson, preview_options(), preview()));
}

#[test]
fn a_preview_document_lists_logical_steps_and_of_the_unchanged_only_the_stack() {
    let steps = |options| -> Vec<String> {
        let document = document(options, changes());
        let steps = document["steps"].as_array().unwrap();
        steps.iter().map(|step| format!("{} {}", step["op"].as_str().unwrap(), name_of(step))).collect()
    };
    assert_eq!(steps(preview_options()), ["same demo-dev", "update bug", "replace name", "delete old"]);
    let with_sames = steps(DisplayOptions { show_sames: true, ..preview_options() });
    assert_eq!(with_sames, ["same demo-dev", "same same", "update bug", "replace name", "delete old"]);
}

fn name_of(step: &Json) -> &str {
    step["urn"].as_str().unwrap().rsplit("::").next().unwrap()
}

#[test]
fn a_detailed_diff_has_the_names_of_its_form() {
    let mut diff = DetailedDiff::new();
    diff.insert("a.b[0]".to_owned(), PropertyDiff { kind: DiffKind::UpdateReplace, input_diff: true });
    let mut update = step(Op::Update, Some(resource("a", "1", [])), Some(resource("a", "1", [])));
    update.detailed_diff = Some(diff);
    let events = || vec![Event::StepStarted(update.clone())];
    let line = &lines(options(), events())[0];
    let in_events = json!({"a.b[0]": {"diffKind": "update-replace", "inputDiff": true}});
    assert_eq!(line["resourcePreEvent"]["metadata"]["detailedDiff"], in_events);
    let in_document = json!({"a.b[0]": {"kind": "update-replace", "inputDiff": true}});
    assert_eq!(document(preview_options(), events())["steps"][0]["detailedDiff"], in_document);
}

#[test]
fn a_preview_that_broke_off_still_has_its_document_and_one_that_never_began_has_none() {
    let broken = document(preview_options(), failure().into_iter().take(4).collect());
    assert_eq!(broken["diagnostics"][0]["severity"], "error");
    assert_eq!(broken["changeSummary"], json!({}));
    assert_eq!(shown(DisplayMode::PreviewJson, preview_options(), Vec::new()), "");
}

#[test]
fn a_resource_in_the_document_has_its_members_in_the_order_of_the_state() {
    let full = ResourceState {
        dependencies: vec![stack_urn()],
        protect: true,
        taint: true,
        init_errors: vec!["did not start".to_owned()],
        property_dependencies: [("color".to_owned(), vec![])].into(),
        outputs: Some(Arc::new(map([("color", "x".into())]))),
        created: "2026-01-01T00:00:00Z".to_owned(),
        ..resource("full", "9", [("color", "x".into())])
    };
    let events = vec![Event::StepStarted(step(Op::Delete, Some(full), None))];
    let document = document(preview_options(), events);
    let members: Vec<&String> = document["steps"][0]["oldState"].as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        [
            "urn",
            "custom",
            "id",
            "type",
            "inputs",
            "outputs",
            "parent",
            "protect",
            "taint",
            "dependencies",
            "initErrors",
            "provider",
            "propertyDependencies",
            "created"
        ]
    );
}

fn resources(options: DisplayOptions, events: Vec<Event>) -> Vec<Json> {
    let line: Json = serde_json::from_str(&shown(DisplayMode::SummaryJson, options, events)).unwrap();
    line["resources"].as_array().unwrap().clone()
}

#[test]
fn the_line_of_an_operation_has_why_and_with_diff_what_changes() {
    let plain = resources(options(), changes());
    assert!(plain.iter().all(|resource| resource.get("diff").is_none()));
    let found = resources(DisplayOptions { diff: true, ..options() }, changes());
    let of = |op: &str| found.iter().find(|resource| resource["op"] == op).unwrap();
    assert_eq!(of("update")["diffReasons"], json!(["color", "tags"]));
    let changed = json!({
        "color": { "kind": "update", "old": "ff0000", "new": "00ff00" },
        "tags[1]": { "kind": "add", "new": "b" },
    });
    assert_eq!(of("update")["diff"], changed);
    assert_eq!(of("replace")["replaceReasons"], json!(["name"]));
    let renamed = json!({ "name": { "kind": "update-replace", "old": "x", "new": "y" } });
    assert_eq!(of("replace")["diff"], renamed);
    assert_eq!(of("delete")["diff"], json!({ "color": { "kind": "delete", "old": "bbbbbb" } }));
    // A replacement is one entry with its steps.
    assert_eq!(of("replace")["steps"], json!(["create-replacement", "replace", "delete-replaced"]));
    assert_eq!(found.len(), 3);
    // What a refresh found is known when it is done.
    let seen = |size: f64| with_outputs(resource("drifted", "1", []), [("size", size.into())]);
    let refresh = |new| step(Op::Refresh, Some(seen(1.0)), Some(new));
    let summary = summary(Outcome::Succeeded, [("update", 1)]);
    let events =
        vec![Event::StepStarted(refresh(seen(1.0))), Event::StepDone(refresh(seen(2.0))), Event::Summary(summary)];
    let found = resources(DisplayOptions { diff: true, ..options() }, events);
    assert_eq!(found[0]["diff"], json!({ "size": { "kind": "update", "old": 1, "new": 2 } }));
}

#[test]
fn json_says_what_the_text_says() {
    let base = resource("base", "1", [("zone", "a".into())]);
    let moved = resource("base", "", [("zone", "b".into())]);
    let depends = |zone: &str| ResourceState {
        property_dependencies: [("of".to_owned(), vec![base.urn.clone()])].into(),
        protect: zone == "b",
        ..resource("top", "2", [("of", zone.into())])
    };
    let replaced = |old: &ResourceState, new: &ResourceState| StepMetadata {
        keys: old.inputs.keys().cloned().collect(),
        ..step(Op::Replace, Some(old.clone()), Some(new.clone()))
    };
    let warning = say(None, Severity::Warning, "look here");
    let events = || {
        vec![
            Event::StepStarted(replaced(&base, &moved)),
            Event::StepStarted(replaced(&depends("a"), &depends("b"))),
            warning.clone(),
            Event::StackOutputs { old: Arc::default(), new: Arc::new(map([("key", Value::secret("k".into()))])) },
            Event::Summary(summary(Outcome::Succeeded, [("replace", 2)])),
        ]
    };
    let told = line(DisplayMode::SummaryJson, options(), events());
    let top = &told["resources"][1];
    assert_eq!(top["becauseOf"], json!(base.urn.as_str()));
    assert_eq!(top["inState"], json!(["protected"]));
    // The provider named nothing: what differs is the reason.
    assert_eq!(top["diffReasons"], json!(["of"]));
    assert_eq!(told["warnings"], json!([{ "message": "look here" }]));
    assert_eq!(told["outputs"], json!({ "key": "[secret]" }));
    let event = &lines(options(), events())[1]["resourcePreEvent"]["metadata"];
    assert_eq!(event["diffs"], json!(["of"]));
    assert_eq!(document(preview_options(), events())["steps"][1]["diffReasons"], json!(["of"]));
}

fn line(mode: DisplayMode, options: DisplayOptions, events: Vec<Event>) -> Json {
    serde_json::from_str(&shown(mode, options, events)).unwrap()
}

#[test]
fn the_line_of_an_operation_says_what_failed_and_why() {
    let failed = line(DisplayMode::SummaryJson, options(), failure());
    let marked: Vec<_> =
        failed["resources"].as_array().unwrap().iter().map(|it| (&it["name"], &it["failed"])).collect();
    assert_eq!(marked, [(&json!("broken"), &json!(true))]);
    let errors = failed["errors"].as_array().unwrap();
    assert_eq!(errors[0]["urn"], failed["resources"][0]["urn"]);
    assert!(errors[0]["message"].as_str().unwrap().starts_with("HTTP 422: Validation Failed\n"));
    assert!(errors[1].get("urn").is_none());
    assert!(errors[1]["message"].as_str().unwrap().starts_with("the program raised an error"));
    assert!(line(DisplayMode::SummaryJson, options(), creation()).get("errors").is_none());
    // A preview before an operation has a line where the operation does not follow.
    assert_eq!(line(DisplayMode::FailureJson, options(), failure()), failed);
    assert_eq!(shown(DisplayMode::FailureJson, options(), creation()), "");
}

#[test]
fn the_line_of_a_preview_has_one_order_and_what_a_refresh_found() {
    let of = |name: &str| step(Op::Create, None, Some(resource(name, "", [])));
    let begun = ["queue-10", "queue-2", "a"].map(|name| Event::StepStarted(of(name)));
    let mut events: Vec<Event> = begun.into();
    events.push(Event::Summary(Summary { is_preview: true, ..summary(Outcome::Succeeded, [("create", 3)]) }));
    let names: Vec<Json> =
        resources(preview_options(), events).into_iter().map(|mut resource| resource["name"].take()).collect();
    assert_eq!(names, ["a", "queue-2", "queue-10"]);

    let found = |name: &str, note| StepMetadata { note, ..step(Op::Refresh, Some(resource(name, "1", [])), None) };
    let all = [("gone", "delete"), ("changed", "update"), ("same", "same")];
    let mut events: Vec<Event> = all.iter().map(|(name, _)| Event::StepStarted(found(name, ""))).collect();
    events.extend(all.iter().map(|(name, note)| Event::StepDone(found(name, note))));
    events.push(Event::Summary(summary(Outcome::Succeeded, [("same", 1)])));
    let listed = resources(options(), events);
    let listed: Vec<_> = listed.iter().map(|it| (it["name"].as_str(), it["found"].as_str())).collect();
    assert_eq!(listed, [(Some("gone"), Some("gone")), (Some("changed"), Some("changed"))]);
}

#[test]
fn what_is_secret_or_unknown_stands_as_a_word_in_the_line_of_an_operation() {
    let found = resources(DisplayOptions { diff: true, ..preview_options() }, preview());
    let update = found.iter().find(|resource| resource["op"] == "update").unwrap();
    let token = json!({ "kind": "update", "old": "[secret]", "new": "[secret]" });
    assert_eq!(update["diff"]["token"], token);
    assert_eq!(update["diff"]["from"], json!({ "kind": "update", "old": "arn:1", "new": "[unknown]" }));
    assert_eq!(update["diff"]["list"], json!({ "kind": "add", "new": ["x", "[unknown]"] }));
    // What becomes a secret is not shown as it was.
    let resource_with = |value: Value| resource("a", "1", [("odd.key", value)]);
    let hides =
        step(Op::Update, Some(resource_with("plain".into())), Some(resource_with(Value::secret("hidden-now".into()))));
    let summary = summary(Outcome::Succeeded, [("update", 1)]);
    let events = vec![Event::StepStarted(hides), Event::Summary(summary)];
    let found = resources(DisplayOptions { diff: true, ..options() }, events);
    assert_eq!(found[0]["diff"], json!({ "[\"odd.key\"]": token }));
}
