use std::sync::Arc;

use crate::event::Op;
use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use super::Step;
use crate::update_plan::UpdatePlan;

fn urn() -> Urn {
    Urn::new("dev", "proj", "", "pulumi-python:dynamic:Thing", "a")
}

fn resource(inputs: &[(&str, Value)]) -> ResourceState {
    let inputs: PropertyMap = inputs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    ResourceState { urn: urn(), custom: true, inputs: Arc::new(inputs), ..ResourceState::default() }
}

fn text(text: &str) -> Value {
    Value::from(text)
}

fn step(op: Op, old: Option<&ResourceState>, new: Option<&ResourceState>) -> Step {
    let shared = |resource: &ResourceState| Arc::new(resource.clone());
    Step::new(op, &urn(), old.map(|old| (0, shared(old))), new.map(shared))
}

/// What a plan for this change says about that one.
fn judged(planned: (Op, Option<&ResourceState>, &ResourceState), actual: (Op, &ResourceState)) -> Vec<String> {
    let mut plan = UpdatePlan::default();
    plan.note(planned.0, &urn(), planned.1, Some(planned.2));
    plan.violations(&step(actual.0, planned.1, Some(actual.1)))
}

#[test]
fn a_run_may_do_less_than_planned_and_nothing_else() {
    let (old, new) = (resource(&[("n", text("1"))]), resource(&[("n", text("2"))]));
    assert!(judged((Op::Update, Some(&old), &new), (Op::Update, &new)).is_empty());
    assert!(judged((Op::Update, Some(&old), &new), (Op::Same, &new)).is_empty());
    assert!(judged((Op::Replace, Some(&old), &new), (Op::Update, &new)).is_empty());
    let more = judged((Op::Update, Some(&old), &new), (Op::Replace, &new));
    assert_eq!(more, ["the plan has the steps [update] for it, and it would get the step 'replace'"]);
    let unplanned = UpdatePlan::default().violations(&step(Op::Create, None, Some(&new)));
    assert_eq!(unplanned, ["the plan has no steps for it, and it would get the step 'create'"]);
    assert!(UpdatePlan::default().violations(&step(Op::Same, Some(&old), Some(&old))).is_empty());
}

#[test]
fn an_import_and_the_update_that_follows_it_keep_to_their_plan() {
    let (found, wanted) = (resource(&[("n", text("1"))]), resource(&[("n", text("2"))]));
    let mut plan = UpdatePlan::default();
    plan.note(Op::Import, &urn(), None, Some(&found));
    plan.note(Op::Update, &urn(), Some(&found), Some(&wanted));
    assert_eq!(plan.violations(&step(Op::Import, None, Some(&found))), Vec::<String>::new());
    assert_eq!(plan.violations(&step(Op::Update, Some(&found), Some(&wanted))), Vec::<String>::new());
    let other = resource(&[("n", text("3"))]);
    let refused = plan.violations(&step(Op::Update, Some(&found), Some(&other)));
    assert_eq!(refused, ["its input 'n' was planned to be \"2\", and is \"3\""]);
}

#[test]
fn each_input_that_is_another_one_is_named() {
    let old = resource(&[("kept", text("k")), ("gone", text("g")), ("n", text("1"))]);
    let planned =
        resource(&[("kept", text("k")), ("n", text("2")), ("new", Value::Unknown), ("key", Value::secret(text("s")))]);
    let as_planned = resource(&[
        ("kept", text("k")),
        ("n", text("2")),
        ("new", text("known now")),
        ("key", Value::secret(text("s"))),
    ]);
    assert_eq!(judged((Op::Update, Some(&old), &planned), (Op::Update, &as_planned)), Vec::<String>::new());
    let other = resource(&[
        ("kept", text("changed")),
        ("gone", text("g")),
        ("n", text("3")),
        ("more", text("m")),
        ("key", Value::secret(text("t"))),
    ]);
    assert_eq!(
        judged((Op::Update, Some(&old), &planned), (Op::Update, &other)),
        [
            r#"its input 'gone' was planned to be none, and is "g""#,
            r#"its input 'kept' was planned to be "k", and is "changed""#,
            "its input 'key' ([secret]) has another value than was planned",
            r#"its input 'more' was planned to be none, and is "m""#,
            r#"its input 'n' was planned to be "2", and is "3""#,
        ]
    );
}

#[test]
fn options_are_part_of_a_plan() {
    let new = resource(&[]);
    let other = ResourceState {
        protect: true,
        parent: Some(urn()),
        dependencies: vec![urn()],
        ignore_changes: vec!["n".to_owned()],
        ..new.clone()
    };
    let found = judged((Op::Create, None, &new), (Op::Create, &other));
    let names: Vec<&str> = found.iter().filter_map(|line| line.split(" was planned").next()).collect();
    assert_eq!(names, ["its parent", "protect", "dependsOn", "ignoreChanges"]);
}

#[test]
fn unknowns_at_any_depth_allow_everything() {
    let deep = |inner: Value| {
        let object = Value::Object(PropertyMap::from([("key".to_owned(), Value::secret(inner))]));
        resource(&[("list", Value::Array(vec![text("x"), object]))])
    };
    assert!(judged((Op::Create, None, &deep(Value::Unknown)), (Op::Create, &deep(text("y")))).is_empty());
    assert_eq!(judged((Op::Create, None, &deep(text("y"))), (Op::Create, &deep(text("z")))).len(), 1);
}

#[test]
fn planned_steps_that_did_not_happen_are_missing() {
    let mut plan = UpdatePlan::default();
    plan.note(Op::Update, &urn(), None, Some(&resource(&[])));
    let gone = urn().renamed("gone");
    plan.note(Op::Delete, &gone, Some(&resource(&[])), None);
    let missing: Vec<_> = plan.missing(|_| false, |_| false).collect();
    assert_eq!(missing, [(&urn(), "[update]".to_owned())]);
    assert_eq!(plan.missing(|_| false, |_| true).count(), 2);
    assert_eq!(plan.missing(|_| true, |_| true).count(), 0);
}
