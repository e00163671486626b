//! Provider resources that a program makes for a dynamic package (docs/rules 1.4).

use std::sync::Arc;

use super::testing::{component, decide, goal, inputs, planner, planner_of, refuse, said, try_decide, update};
use super::{Goal, Planner};
use crate::operation::Operation;
use crate::resource_state::ResourceState;
use crate::urn::Urn;

const KIND: &str = "pulumi:providers:pulumi-python";

fn provider(size: f64) -> Goal {
    Goal { kind: KIND.to_owned(), object: None, ..goal("p", size) }
}

/// Its state after an earlier run.
fn known() -> Vec<Arc<ResourceState>> {
    let made = made(&mut planner(Vec::new()), provider(1.0));
    vec![Arc::new(ResourceState { id: "first".to_owned(), outputs: Some(Arc::clone(&made.inputs)), ..made })]
}

fn made(planner: &mut Planner, goal: Goal) -> ResourceState {
    decide(planner, goal, &said(Some(true))).resource().clone()
}

#[test]
fn it_is_made_without_asking_anyone_and_others_may_refer_to_it() {
    let mut planner = planner(Vec::new());
    let decided = decide(&mut planner, provider(1.0), &said(None));
    assert_eq!(decided.named_ops(), ["create p"]);
    assert!(decided.asked.is_empty());
    let resource = decided.resource();
    // Its id and its outputs come when the step is taken.
    assert_eq!((resource.id.as_str(), resource.provider.as_str()), ("", ""));
    assert_eq!(*resource.inputs, inputs(1.0));
    let reference = format!("{}::uuid", resource.urn);
    let user = made(&mut planner, Goal { provider: reference.clone(), ..goal("a", 1.0) });
    assert_eq!(user.provider, reference);
}

#[test]
fn other_inputs_update_it_and_its_id_stays() {
    assert_eq!(decide(&mut planner(known()), provider(1.0), &said(None)).named_ops(), ["same p"]);
    let decided = decide(&mut planner(known()), provider(2.0), &said(None));
    assert_eq!(decided.named_ops(), ["update p"]);
    assert_eq!(decided.resource().id, "first");
    let ignoring = Goal { ignore_changes: vec!["size".to_owned()], ..provider(2.0) };
    assert_eq!(decide(&mut planner(known()), ignoring, &said(None)).named_ops(), ["same p"]);
}

#[test]
fn it_is_replaced_where_the_program_or_the_user_says_so() {
    let replaced = ["create-replacement p", "replace p"];
    let goal = |size| Goal { replace_on_changes: vec!["size".to_owned()], ..provider(size) };
    let decided = decide(&mut planner(known()), goal(2.0), &said(None));
    assert_eq!(decided.named_ops(), replaced);
    assert_eq!(decided.resource().id, "");
    assert_eq!(decide(&mut planner(known()), goal(1.0), &said(None)).named_ops(), ["same p"]);
    let operation = Operation { replace: vec![known()[0].urn.to_string()], ..update() };
    assert_eq!(decide(&mut planner_of(operation, known()), provider(1.0), &said(None)).named_ops(), replaced);
}

#[test]
fn a_version_is_one_of_its_inputs() {
    let versioned = Goal { package_version: "1.2.3".to_owned(), ..provider(1.0) };
    assert_eq!(made(&mut planner(Vec::new()), versioned).inputs["version"], "1.2.3".into());
}

#[test]
fn providers_that_are_imported_or_unknown_are_refused() {
    let imported = Goal { import_id: "x".to_owned(), ..provider(1.0) };
    assert!(refuse(try_decide(&mut planner(Vec::new()), imported, &said(None))).contains("cannot be imported"));
    let nowhere = Urn::new("dev", "proj", "", KIND, "nowhere");
    let user = Goal { provider: format!("{nowhere}::x"), ..goal("a", 1.0) };
    let said_of = refuse(try_decide(&mut planner(Vec::new()), user, &said(None)));
    assert!(said_of.contains("the option 'provider' names"), "{said_of}");
    // What a component hands down may be for another package.
    made(&mut planner(Vec::new()), Goal { provider: format!("{nowhere}::x"), ..component("g") });
}
