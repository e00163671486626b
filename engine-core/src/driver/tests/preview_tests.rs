//! What a preview answers and tells (docs/rules 6).

use std::sync::Arc;

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::value::{PropertyMap, Value};

use crate::driver::tests::testing::{ScriptedHost, Wanted, component, run, run_as, wanted};

fn sized(name: &'static str, zone: &str, size: f64) -> Wanted {
    let mut resource = wanted(name, zone);
    resource.inputs.insert("size".to_owned(), Value::Number(size));
    resource
}

fn values(members: &[(&str, Value)]) -> PropertyMap {
    members.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}

#[test]
fn each_step_answers_what_is_known() {
    let host: Arc<ScriptedHost> = Arc::default();
    let program = |zone: &str, size: f64| {
        vec![component("g"), sized("same", "x", 1.0), sized("update", "x", size), sized("replace", zone, 1.0)]
    };
    let first = run(&host, OperationKind::Update, false, Vec::new(), &program("x", 1.0));
    let mut changed = program("y", 2.0);
    changed.push(sized("create", "x", 1.0));
    changed.push(Wanted { from: Some("create"), ..wanted("user", "x") });
    let preview = run(&host, OperationKind::Update, true, first.resources, &changed);
    let known = |zone: &str, size: f64| values(&[("zone", zone.into()), ("size", size.into())]);
    let with_arn = |zone: &str, size: f64, arn: &str| {
        let mut outputs = known(zone, size);
        outputs.insert("arn".to_owned(), arn.into());
        outputs
    };
    assert_eq!(preview.answers["g"], PropertyMap::new());
    assert_eq!(preview.answers["same"], with_arn("x", 1.0, "arn:id-1"));
    assert_eq!(preview.answers["update"], with_arn("x", 2.0, "arn:id-2"));
    assert_eq!(preview.answers["replace"], known("y", 1.0));
    assert_eq!(preview.answers["create"], known("x", 1.0));
    assert_eq!(preview.resource("replace").id, "");
    assert_eq!(preview.resource("create").id, "");
    assert_eq!(preview.resource("update").id, "id-2");
    assert_eq!(preview.answers["user"]["from"], Value::Unknown);
}

#[test]
fn every_missing_target_is_told() {
    let urn = |name: &str| format!("urn:pulumi:dev::proj::pulumi-python:dynamic:Thing::{name}");
    let operation = Operation {
        dry_run: true,
        targets: vec![urn("b"), urn("c")],
        ..Operation::new(OperationKind::Update, "proj", "dev")
    };
    let needs_a = |name| Wanted { from: Some("a"), ..wanted(name, "x") };
    let preview = run_as(&Arc::default(), operation, Vec::new(), &[wanted("a", "x"), needs_a("b"), needs_a("c")]);
    assert_eq!(preview.report.summary.outcome, Ended::Failed);
    assert_eq!(preview.messages.matches("which was not specified in --target list and does not exist yet").count(), 2);
}
