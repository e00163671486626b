//! Updates that refresh first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::event::Outcome as Ended;
use crate::operation::{Operation, OperationKind};
use crate::provider::ProviderErrorKind;
use crate::resource_state::ResourceState;
use crate::value::{PropertyMap, Value};

use crate::driver::tests::testing::{Outcome, ScriptedHost, Wanted, run_as, wanted};

fn refresh_and(
    kind: OperationKind,
    host: &Arc<ScriptedHost>,
    resources: Vec<Arc<ResourceState>>,
    program: &[Wanted],
) -> Outcome {
    run_as(host, Operation { refresh: true, ..Operation::new(kind, "proj", "dev") }, resources, program)
}

fn chain() -> Vec<Wanted> {
    vec![wanted("a", "x"), Wanted { from: Some("a"), ..wanted("b", "fixed") }]
}

fn drifted(size: f64) -> PropertyMap {
    let text = |text: &str| Value::String(text.to_owned());
    let outputs = [("zone", text("x")), ("arn", text("arn:id-1")), ("size", Value::Number(size))];
    outputs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn host_with(world: &[(&str, Option<PropertyMap>)], live: Vec<u64>) -> Arc<ScriptedHost> {
    let world = world.iter().map(|(name, found)| ((*name).to_owned(), found.clone())).collect();
    Arc::new(ScriptedHost { world: Mutex::new(world), live, made: Mutex::new(2), ..ScriptedHost::default() })
}

fn deployed() -> Vec<Arc<ResourceState>> {
    run_as(&Arc::default(), Operation::new(OperationKind::Update, "proj", "dev"), Vec::new(), &chain()).resources
}

#[test]
fn what_the_program_has_handed_over_is_read_before_anything_is_planned() {
    let host = host_with(&[("a", Some(drifted(1.0))), ("b", None)], vec![1]);
    let mut program = chain();
    program[0].inputs.insert("size".to_owned(), Value::Number(1.0));
    let up = refresh_and(OperationKind::Update, &host, deployed(), &program);
    assert_eq!(
        up.steps,
        ["refresh proj-dev", "refresh a", "refresh b", "same proj-dev", "same a", "create b"],
        "{}",
        up.messages
    );
    assert_eq!(up.report.summary.changes, BTreeMap::from([("create", 1), ("same", 2)]));
    let b = up.resources.iter().find(|resource| resource.urn.name() == "b").map(|resource| resource.id.clone());
    assert_eq!(b.as_deref(), Some("id-3"));
}

#[test]
fn what_cannot_be_told_by_its_reference_is_read_when_it_is_registered_and_the_rest_before_deletions() {
    let host = host_with(&[("b", None)], Vec::new());
    let up = refresh_and(OperationKind::Update, &host, deployed(), &chain()[..1]);
    assert_eq!(up.steps, ["refresh proj-dev", "same proj-dev", "refresh a", "same a", "refresh b"], "{}", up.messages);
    assert!(!up.calls.contains(&"b.delete".to_owned()), "{:?}", up.calls);
    assert!(up.resources.iter().all(|resource| resource.urn.name() != "b"));
}

#[test]
fn a_failed_read_ends_the_run_before_it_changes_anything() {
    let host = host_with(&[], vec![1]);
    host.fail("b", "read", ProviderErrorKind::Raised);
    let up = refresh_and(OperationKind::Update, &host, deployed(), &[wanted("c", "x")]);
    assert_eq!(up.report.summary.outcome, Ended::Failed);
    assert_eq!(up.steps, ["refresh proj-dev", "refresh a", "refresh b", "refresh b failed"]);
    assert!(up.resources.iter().any(|resource| resource.urn.name() == "b"));
}

#[test]
fn a_destroy_that_refreshes_does_not_delete_what_is_gone() {
    let host = host_with(&[("b", None)], Vec::new());
    let destroy = refresh_and(OperationKind::Destroy, &host, deployed(), &chain());
    assert_eq!(
        destroy.steps,
        ["refresh proj-dev", "refresh a", "refresh b", "delete a", "delete proj-dev"],
        "{}",
        destroy.messages
    );
    assert!(destroy.resources.is_empty(), "{:?}", destroy.resources.len());
}
