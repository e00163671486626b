//! What goes before a resource that is deleted before its replacement is made (docs/rules 4.2).

use std::sync::Arc;

use super::testing::{decide_by, goal, inputs, old, planner, replaces, resource, said, urn};
use super::{Planner, Question};
use crate::provider::{DiffAnswer, Method};
use crate::resource_state::ResourceState;
use crate::value::Value;

/// A resource that takes its size from another one.
fn user(name: &str, of: &str) -> ResourceState {
    ResourceState {
        dependencies: vec![urn(of)],
        property_dependencies: [("size".to_owned(), vec![urn(of)])].into(),
        ..old(name)
    }
}

/// "Replaced" for all but those that are named, which only change.
fn replaced_but<'a>(only_changed: &'a [&str]) -> impl Fn(&Question) -> DiffAnswer + 'a {
    |question| if only_changed.contains(&question.urn.name()) { said(Some(true)) } else { replaces(true) }
}

#[test]
fn only_those_go_first_that_would_be_replaced() {
    let dependent = ResourceState { dependencies: vec![urn("a")], ..old("depends-on") };
    let external = ResourceState { external: true, ..user("external", "a") };
    let resources = vec![
        old("a"),
        user("b", "a"),
        user("below-b", "b"),
        user("updated", "a"),
        user("below-updated", "updated"),
        dependent,
        external,
    ];
    let mut planner = planner(resources.into_iter().map(Arc::new).collect());
    let decided = decide_by(&mut planner, goal("a", 2.0), replaced_but(&["updated"]));
    assert_eq!(
        decided.named_ops(),
        ["delete-replaced below-b", "delete-replaced b", "delete-replaced a", "replace a", "create-replacement a"]
    );
    let asked: Vec<_> = decided.asked.iter().map(|question| question.urn.name()).collect();
    assert_eq!(asked, ["a", "a", "a", "b", "below-b", "updated"]);
}

#[test]
fn the_question_has_unknown_values_in_place_of_what_goes() {
    let mut b = user("b", "a");
    b.outputs = Some(Arc::new(inputs(7.0)));
    let mut planner = planner(vec![resource("a"), Arc::new(b)]);
    let decided = decide_by(&mut planner, goal("a", 2.0), replaced_but(&[]));
    let asked = decided.asked.iter().find_map(|question| match &question.method {
        Method::Diff { id, olds, news } if id == "id-b" => Some((olds.clone(), news.clone())),
        _ => None,
    });
    assert_eq!(asked, Some((inputs(7.0), [("size".to_owned(), Value::Unknown)].into())));
}

#[test]
fn stored_replace_on_changes_count() {
    let b = ResourceState { replace_on_changes: vec!["size".to_owned()], ..user("b", "a") };
    let mut planner = planner(vec![resource("a"), Arc::new(b)]);
    let decided =
        decide_by(
            &mut planner,
            goal("a", 2.0),
            |question| {
                if question.urn.name() == "b" { said(None) } else { replaces(true) }
            },
        );
    assert_eq!(decided.named_ops()[0], "delete-replaced b");
}

#[test]
fn what_replace_on_changes_names_below_an_unknown_property_counts() {
    for (path, goes) in [("size[*].part", true), ("size.part", true), ("*.*", true), ("other.part", false)] {
        let b = ResourceState { replace_on_changes: vec![path.to_owned()], ..user("b", "a") };
        let mut planner = planner(vec![resource("a"), Arc::new(b)]);
        let decided = decide_by(&mut planner, goal("a", 2.0), |question| {
            if question.urn.name() == "b" { said(Some(true)) } else { replaces(true) }
        });
        assert_eq!(decided.named_ops()[0] == "delete-replaced b", goes, "{path}");
    }
}

#[test]
fn what_is_deleted_or_replaced_with_it_goes_too() {
    let with = ResourceState { deleted_with: Some(urn("a")), ..old("with") };
    let along = ResourceState { replace_with: vec![urn("a")], ..old("along") };
    let mut planner = planner(vec![resource("a"), Arc::new(with), Arc::new(along)]);
    let decided = decide_by(&mut planner, goal("a", 2.0), replaced_but(&[]));
    assert_eq!(decided.named_ops()[..3], ["delete-replaced along", "delete-replaced with", "delete-replaced a"]);
    let notes: Vec<_> = decided.steps[..3].iter().map(|step| step.note).collect();
    assert_eq!(notes, ["", crate::event::IMPLIED, ""]);
}

#[test]
fn what_was_registered_before_is_left_alone() {
    let mut planner: Planner = planner(vec![resource("a"), Arc::new(user("b", "a"))]);
    decide_by(&mut planner, goal("b", 1.0), |_| said(Some(false)));
    let decided = decide_by(&mut planner, goal("a", 2.0), replaced_but(&[]));
    assert_eq!(decided.named_ops()[0], "delete-replaced a");
}
