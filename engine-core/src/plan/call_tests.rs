//! What each method of a provider is called with (docs/rules 2.6).

use std::sync::Arc;

use super::testing::{
    PlannedRegistration, decide, goal, inputs, map, old, planner, planner_of, replaces, said, update, urn,
};
use crate::provider::Method;
use crate::resource_state::ResourceState;
use crate::value::PropertyMap;

/// Old and new properties of each check.
fn checks(decided: &PlannedRegistration) -> Vec<(PropertyMap, PropertyMap)> {
    let calls = decided.asked.iter().filter_map(|question| match &question.method {
        Method::Check { olds, news } => Some((olds.clone(), news.clone())),
        _ => None,
    });
    calls.collect()
}

fn with_outputs() -> Arc<ResourceState> {
    Arc::new(ResourceState { outputs: Some(Arc::new(map([("made", true.into())]))), ..old("a") })
}

#[test]
fn each_method_gets_what_the_rules_say() {
    let decided = decide(&mut planner(vec![with_outputs()]), goal("a", 2.0), &said(Some(true)));
    assert_eq!(checks(&decided), [(inputs(1.0), inputs(2.0))]);
    let diff = decided.asked.iter().find_map(|question| match &question.method {
        Method::Diff { id, olds, news } => Some((id.as_str(), olds.clone(), news.clone())),
        _ => None,
    });
    assert_eq!(diff, Some(("id-a", map([("made", true.into())]), inputs(2.0))));

    let first = decide(&mut planner(Vec::new()), goal("a", 2.0), &said(None));
    assert_eq!(checks(&first), [(PropertyMap::new(), inputs(2.0))]);
    assert_eq!(first.methods(), ["check"]);
}

#[test]
fn a_replacement_is_checked_afresh_and_a_forced_one_only_so() {
    let twice = decide(&mut planner(vec![with_outputs()]), goal("a", 2.0), &replaces(false));
    assert_eq!(checks(&twice), [(inputs(1.0), inputs(2.0)), (PropertyMap::new(), inputs(2.0))]);

    let mut operation = update();
    operation.replace = vec![urn("a").to_string()];
    let once = decide(&mut planner_of(operation, vec![with_outputs()]), goal("a", 2.0), &said(None));
    assert_eq!(checks(&once), [(PropertyMap::new(), inputs(2.0))]);
    assert_eq!(once.methods(), ["check"]);
}
