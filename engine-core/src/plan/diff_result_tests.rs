//! What a provider's answer leads to (docs/rules 3.2, 3.4).

use std::sync::Arc;

use super::Goal;
use super::testing::{decide, goal, old, planner, replaces, resource, said};
use crate::event::Op;
use crate::provider::DiffAnswer;
use crate::resource_state::ResourceState;

#[test]
fn an_undecided_provider_is_helped_by_a_comparison() {
    let undecided = DiffAnswer { changes: None, ..replaces(false) };
    let same = decide(&mut planner(vec![resource("a")]), goal("a", 1.0), &undecided);
    assert_eq!(same.ops(), [Op::Same]);
    let replaced = decide(&mut planner(vec![resource("a")]), goal("a", 2.0), &undecided);
    assert_eq!(replaced.ops(), [Op::CreateReplacement, Op::Replace]);
}

#[test]
fn a_resource_that_waits_for_its_replacement_is_replaced_without_another_delete() {
    let waiting = || Arc::new(ResourceState { pending_replacement: true, ..old("a") });
    let decided = decide(&mut planner(vec![waiting()]), goal("a", 1.0), &said(Some(false)));
    assert_eq!(decided.ops(), [Op::CreateReplacement, Op::Replace]);
    let wanted = Goal { delete_before_replace: Some(true), ..goal("a", 1.0) };
    let decided = decide(&mut planner(vec![waiting()]), wanted, &said(Some(false)));
    assert_eq!(decided.ops(), [Op::Replace, Op::CreateReplacement]);
}

#[test]
fn an_object_that_did_not_start_is_updated_or_replaced_where_that_is_asked_for() {
    let unhealthy = || Arc::new(ResourceState { init_errors: vec!["no power".to_owned()], ..old("a") });
    let ignoring = Goal { ignore_changes: vec!["size".to_owned()], ..goal("a", 1.0) };
    for wanted in [goal("a", 1.0), ignoring] {
        let decided = decide(&mut planner(vec![unhealthy()]), wanted, &said(Some(false)));
        assert_eq!(decided.ops(), [Op::Update]);
        assert!(decided.resource().init_errors.is_empty());
    }
    for path in ["#initerror", "*"] {
        let wanted = Goal { replace_on_changes: vec![path.to_owned()], ..goal("a", 1.0) };
        let decided = decide(&mut planner(vec![unhealthy()]), wanted, &said(Some(false)));
        assert_eq!(decided.ops(), [Op::CreateReplacement, Op::Replace], "{path}");
    }
}

#[test]
fn a_listed_path_counts_for_itself_and_what_is_below() {
    use super::testing::map;
    use crate::value::Value;
    let inputs = |deep: f64| map([("a", Value::Object(map([("b", deep.into())])))]);
    let before = Arc::new(ResourceState { inputs: Arc::new(inputs(1.0)), ..old("r") });
    for (path, replaced) in [("a", true), ("a.b", true), ("*.b", true), ("a.b.c", false), ("c", false), ("a.c", false)]
    {
        let wanted = Goal { inputs: inputs(2.0), replace_on_changes: vec![path.to_owned()], ..goal("r", 1.0) };
        let decided = decide(&mut planner(vec![Arc::clone(&before)]), wanted, &said(None));
        assert_eq!(decided.ops().contains(&Op::Replace), replaced, "{path}");
        if replaced {
            assert_eq!(decided.steps[0].keys, ["a"]);
        }
    }
    let unchanged = Goal { inputs: inputs(1.0), replace_on_changes: vec!["*".to_owned()], ..goal("r", 1.0) };
    assert_eq!(decide(&mut planner(vec![before]), unchanged, &said(None)).ops(), [Op::Same]);
}
