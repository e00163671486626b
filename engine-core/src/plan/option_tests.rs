//! Options of a registration, and what they lead to.

use std::sync::Arc;

use super::Goal;
use super::testing::{
    GROUP, begin, component, decide, goal, group, inputs, old, old_component, planner, planner_of, replaces, resource,
    said, update, urn,
};
use crate::event::Op;
use crate::operation::Operation;
use crate::provider::Method;
use crate::resource_state::{CustomTimeouts, ResourceState};
use crate::value::{PropertyMap, Value};

#[test]
fn children_take_options_from_their_parent_unless_they_say_themselves() {
    let parent = || Goal {
        protect: Some(true),
        retain_on_delete: Some(true),
        deleted_with: Some(urn("owner")),
        ..component("g")
    };
    let mut planner = planner(Vec::new());
    begin(&mut planner, goal("owner", 1.0));
    begin(&mut planner, goal("other", 1.0));
    begin(&mut planner, parent());
    let below = |name: &str| Goal { parent: Some(group("g")), ..goal(name, 1.0) };
    let silent = decide(&mut planner, below("silent"), &said(None));
    let resource = silent.resource();
    assert_eq!(
        (resource.protect, resource.retain_on_delete, resource.deleted_with.clone()),
        (true, true, Some(urn("owner")))
    );
    let own =
        Goal { protect: Some(false), retain_on_delete: Some(false), deleted_with: Some(urn("other")), ..below("own") };
    let own = decide(&mut planner, own, &said(None));
    let resource = own.resource();
    assert_eq!(
        (resource.protect, resource.retain_on_delete, resource.deleted_with.clone()),
        (false, false, Some(urn("other")))
    );
}

#[test]
fn delete_before_replace_of_the_program_overrides_the_providers() {
    for (option, provider, deletes_first) in
        [(None, false, false), (None, true, true), (Some(false), true, false), (Some(true), false, true)]
    {
        let wanted = Goal { delete_before_replace: option, ..goal("a", 2.0) };
        let decided = decide(&mut planner(vec![resource("a")]), wanted, &replaces(provider));
        assert_eq!(decided.ops()[0] == Op::DeleteReplaced, deletes_first, "{option:?}, {provider}");
    }
}

#[test]
fn a_resource_takes_every_option_of_the_program_and_its_history_from_the_old_one() {
    let before = ResourceState {
        import_id: "imported".to_owned(),
        created: "2026-01-01T00:00:00Z".to_owned(),
        modified: "2026-01-02T00:00:00Z".to_owned(),
        protect: true,
        taint: true,
        ..old("a")
    };
    let wanted = Goal {
        retain_on_delete: Some(true),
        additional_secret_outputs: vec!["s".to_owned()],
        custom_timeouts: CustomTimeouts { create: 5.0, ..CustomTimeouts::default() },
        ignore_changes: vec!["x".to_owned()],
        replace_on_changes: vec!["y".to_owned()],
        hide_diff: vec!["z".to_owned()],
        source_position: "project:///p#1".to_owned(),
        ..goal("a", 1.0)
    };
    let untainted = ResourceState { taint: false, ..before.clone() };
    let decided = decide(&mut planner(vec![Arc::new(untainted)]), wanted, &said(Some(false)));
    assert_eq!(decided.ops(), [Op::Same]);
    let resource = decided.resource();
    assert_eq!(
        *resource,
        ResourceState {
            id: "id-a".to_owned(),
            provider: "urn:pulumi:dev::proj::pulumi:providers:pulumi-python::default::uuid".to_owned(),
            protect: false,
            taint: false,
            retain_on_delete: true,
            additional_secret_outputs: vec!["s".to_owned()],
            custom_timeouts: CustomTimeouts { create: 5.0, ..CustomTimeouts::default() },
            ignore_changes: vec!["x".to_owned()],
            replace_on_changes: vec!["y".to_owned()],
            hide_diff: vec!["z".to_owned()],
            source_position: "project:///p#1".to_owned(),
            ..before
        }
    );
}

#[test]
fn a_marked_resource_is_replaced_once() {
    let marked = Arc::new(ResourceState { taint: true, ..old("a") });
    let decided = decide(&mut planner(vec![marked]), goal("a", 1.0), &said(Some(false)));
    assert_eq!(decided.ops(), [Op::CreateReplacement, Op::Replace]);
    assert_eq!(decided.steps[0].keys, ["id"]);
    assert!(!decided.resource().taint);
}

#[test]
fn ignored_inputs_reach_check_with_their_old_values() {
    let wanted = Goal { ignore_changes: vec!["size".to_owned()], ..goal("a", 2.0) };
    let decided = decide(&mut planner(vec![resource("a")]), wanted, &said(Some(true)));
    assert!(matches!(&decided.asked[0].method, Method::Check { news, .. } if *news == inputs(1.0)));
}

#[test]
fn a_component_that_is_named_by_replace_keeps_what_it_ignores() {
    let operation = Operation { replace: vec![group("g").to_string()], ..update() };
    let mut planner = planner_of(operation, vec![Arc::new(old_component("g"))]);
    let wanted = Goal { ignore_changes: vec!["size".to_owned()], inputs: inputs(2.0), ..component("g") };
    let decided = decide(&mut planner, wanted, &said(None));
    assert_eq!(decided.ops(), [Op::Same]);
    assert_eq!(*decided.resource().inputs, inputs(1.0));
}

#[test]
fn a_replacement_gets_the_programs_inputs_as_they_are() {
    let wanted = Goal { ignore_changes: vec!["size".to_owned()], ..goal("a", 2.0) };
    let decided = decide(&mut planner(vec![resource("a")]), wanted, &replaces(false));
    assert!(
        matches!(&decided.asked[2].method, Method::Check { news, olds } if *news == inputs(2.0) && olds.is_empty())
    );
    assert_eq!(*decided.resource().inputs, inputs(2.0));
}

#[test]
fn a_component_that_becomes_custom_is_replaced() {
    let kind = "pulumi-python:dynamic:Thing";
    let was_component = ResourceState { custom: false, id: String::new(), ..old("a") };
    let decided = decide(&mut planner(vec![Arc::new(was_component)]), goal("a", 1.0), &said(None));
    assert_eq!(decided.ops(), [Op::CreateReplacement, Op::Replace]);
    assert_eq!(decided.steps[0].keys, ["provider"]);

    let now_component = Goal { kind: kind.to_owned(), ..component("a") };
    let decided = decide(&mut planner(vec![resource("a")]), now_component, &said(None));
    assert_eq!(decided.ops(), [Op::CreateReplacement, Op::Replace]);
    assert_eq!(decided.steps[0].keys, ["provider"]);
}

#[test]
fn components_are_compared_by_their_inputs() {
    for (size, op) in [(1.0, Op::Same), (2.0, Op::Update)] {
        let wanted = Goal { inputs: inputs(size), ..component("g") };
        let decided = decide(&mut planner(vec![Arc::new(old_component("g"))]), wanted, &said(None));
        assert_eq!((decided.ops(), decided.asked.len()), (vec![op], 0));
        assert_eq!(decided.resource().kind, GROUP);
    }
}

#[test]
fn protection_that_is_taken_away_or_ignored_does_not_count() {
    let protected = || Arc::new(ResourceState { protect: true, ..old("a") });
    let given_up = decide(&mut planner(vec![protected()]), goal("a", 2.0), &replaces(false));
    assert!(given_up.ops().contains(&Op::Replace));
    let mut operation = update();
    operation.ignore_protect = true;
    let still = Goal { protect: Some(true), ..goal("a", 2.0) };
    let ignored = decide(&mut planner_of(operation, vec![protected()]), still, &replaces(false));
    assert!(ignored.ops().contains(&Op::Replace));
    assert!(ignored.resource().protect);
    assert_eq!(ignored.resource().outputs, None::<Arc<PropertyMap>>);
}

#[test]
fn a_trigger_replaces_when_its_value_is_another_one() {
    let mut preview = update();
    preview.dry_run = true;
    let number = |number: f64| Some(Value::Number(number));
    for (before, now, replaced) in [
        (number(1.0), number(2.0), true),
        (number(1.0), number(1.0), false),
        (Some(Value::secret(1.0.into())), number(1.0), false),
        (None, number(1.0), false),
        (number(1.0), None, false),
        (number(1.0), Some(Value::Unknown), true),
    ] {
        let resource = Arc::new(ResourceState { replacement_trigger: before.clone(), ..old("a") });
        let wanted = Goal { replacement_trigger: now.clone(), ..goal("a", 1.0) };
        let decided = decide(&mut planner_of(preview.clone(), vec![resource]), wanted, &said(Some(false)));
        assert_eq!(decided.ops().contains(&Op::Replace), replaced, "{before:?} {now:?}");
        assert_eq!(decided.methods().contains(&"diff"), !replaced);
    }
}
