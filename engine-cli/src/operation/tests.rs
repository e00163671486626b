#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails with the error")]

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use maloko_core::Urn;
use maloko_core::event::{Event, EventSink, Op, StepMetadata};
use maloko_core::operation::OperationKind;

use super::Request;
use super::preview_outcome::{PreviewOutcome, Recorder};
use crate::arguments::{Command, parse};

fn request(line: &str) -> Request {
    let arguments: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    match parse(&arguments).unwrap().command {
        Command::Up(up) => up.into(),
        Command::Preview(preview) => preview.into(),
        Command::Refresh(refresh) => refresh.into(),
        Command::Destroy(destroy) => destroy.into(),
        other => panic!("{other:?} is no operation"),
    }
}

#[test]
fn flags_become_settings_of_the_engine() {
    let line =
        "up -t a --target-dependents --target-replace b --replace c -x d --continue-on-error --ignore-protect -p 3";
    let operation = request(line).operation("shop", "dev", false, 8);
    assert_eq!((operation.kind, operation.dry_run), (OperationKind::Update, false));
    assert_eq!(operation.targets, ["a", "b"]);
    assert_eq!(operation.replace, ["c", "b"]);
    assert_eq!(operation.excludes, ["d"]);
    assert!(operation.target_dependents && operation.continue_on_error && operation.ignore_protect);
    assert_eq!(operation.parallel, 3);

    let refuses = |line: &str| request(line).operation("shop", "dev", false, 8).refuse_import_differences;
    assert!(refuses("up --refuse-import-differences") && refuses("preview --refuse-import-differences"));
    assert!(!refuses("up") && !refuses("preview"));

    let parallel = |line: &str| request(line).operation("shop", "dev", false, 8).parallel;
    assert_eq!([parallel("up -p 0"), parallel("up -p=-1"), parallel("up")], [1, 1, 32]);
    assert!(request("preview").operation("shop", "dev", false, 1).dry_run);
    assert!(request("refresh --preview-only").operation("shop", "dev", false, 1).dry_run);
    assert!(!request("destroy --no-program").operation("shop", "dev", false, 1).run_program);
}

fn recorded(steps: &[(&str, Op)]) -> Recorder {
    let recorder = Recorder::default();
    for (name, op) in steps {
        recorder.emit(Event::StepStarted(StepMetadata {
            op: *op,
            urn: Urn::unchecked(name),
            old: None,
            new: None,
            keys: Vec::new(),
            diffs: Vec::new(),
            detailed_diff: None,
            internal: *name == "internal",
            note: "",
        }));
    }
    recorder
}

fn plan(steps: &[(&str, &str)]) -> PreviewOutcome {
    let mut planned: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (urn, op) in steps {
        planned.entry((*urn).to_owned()).or_default().insert((*op).to_owned());
    }
    PreviewOutcome { steps: planned, ..PreviewOutcome::default() }
}

#[test]
fn only_what_a_preview_did_not_show_is_a_surprise() {
    let shown = plan(&[("a", "create"), ("b", "update"), ("c", "replace"), ("d", "same"), ("e", "replace")]);
    let as_shown = [("a", Op::Create), ("b", Op::Same), ("c", Op::Update), ("d", Op::Same), ("e", Op::Delete)];
    assert_eq!(shown.surprises(&recorded(&as_shown)), Vec::<String>::new());
    let done = [("b", Op::Replace), ("d", Op::Update), ("f", Op::Create), ("internal", Op::Create)];
    insta::assert_snapshot!(shown.surprises(&recorded(&done)).join("\n"), @r"
    b: the preview showed update, the update did replace
    d: the preview showed same, the update did update
    f: the preview showed nothing, the update did create
    ");
}

#[test]
fn a_plan_goes_through_a_file() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert_eq!(PreviewOutcome::read(file.path()).unwrap(), None);
    let plan = PreviewOutcome { details: "+ a".to_owned(), ..plan(&[("a", "create")]) };
    plan.write(file.path()).unwrap();
    assert_eq!(PreviewOutcome::read(file.path()).unwrap(), Some(plan));
    std::fs::write(file.path(), "{").unwrap();
    assert!(PreviewOutcome::read(file.path()).unwrap_err().message.contains("is damaged"));
}
