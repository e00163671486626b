//! Former identities (docs/rules 2.3).

use std::sync::Arc;

use super::testing::{GROUP, KIND, begin, component, goal, group, old, old_component, planner, resource, urn};
use super::{Alias, Goal, Planner};
use crate::resource_state::ResourceState;
use crate::urn::Urn;

fn spec() -> Alias {
    Alias::Spec { name: None, kind: None, stack: None, project: None, parent: None }
}

fn named(former: &str) -> Alias {
    Alias::Spec { name: Some(former.to_owned()), kind: None, stack: None, project: None, parent: None }
}

fn found(planner: &mut Planner, goal: Goal) -> Option<Urn> {
    begin(planner, goal).old.map(|(_, resource)| resource.urn.clone())
}

#[test]
fn what_an_alias_leaves_out_is_as_it_is_now() {
    let below_group = || Goal { parent: Some(group("g")), ..goal("a", 1.0) };
    let child = Urn::new("dev", "proj", GROUP, KIND, "a");
    let cases: [(Alias, Urn); 7] = [
        (spec(), child.clone()),
        (named("b"), Urn::new("dev", "proj", GROUP, KIND, "b")),
        (
            Alias::Spec { name: None, kind: Some("x:y:Z".into()), stack: None, project: None, parent: None },
            Urn::new("dev", "proj", GROUP, "x:y:Z", "a"),
        ),
        (
            Alias::Spec { name: None, kind: None, stack: Some("test".into()), project: None, parent: None },
            Urn::new("test", "proj", GROUP, KIND, "a"),
        ),
        (
            Alias::Spec { name: None, kind: None, stack: None, project: Some("old".into()), parent: None },
            Urn::new("dev", "old", GROUP, KIND, "a"),
        ),
        (Alias::Spec { name: None, kind: None, stack: None, project: None, parent: Some(None) }, urn("a")),
        (
            Alias::Spec {
                name: None,
                kind: None,
                stack: None,
                project: None,
                parent: Some(Some(Urn::new("dev", "proj", "", crate::urn::STACK_TYPE, "proj-dev"))),
            },
            urn("a"),
        ),
    ];
    for (alias, former) in cases {
        let kind = former.own_type().to_owned();
        let before = ResourceState { urn: former.clone(), kind, ..old("a") };
        let mut planner = planner(vec![Arc::new(before)]);
        begin(&mut planner, component("g"));
        let goal = Goal { aliases: vec![alias.clone()], ..below_group() };
        assert_eq!(found(&mut planner, goal), Some(former), "{alias:?}");
    }
}

#[test]
fn aliases_are_tried_in_order_and_urns_first() {
    let aliases = vec![Alias::Urn(urn("first")), named("second"), named("third")];
    let renamed = || Goal { aliases: aliases.clone(), ..goal("new", 1.0) };
    for (resources, expected) in
        [(vec!["third", "second", "first"], "first"), (vec!["third", "second"], "second"), (vec!["third"], "third")]
    {
        let mut planner = planner(resources.into_iter().map(resource).collect());
        assert_eq!(found(&mut planner, renamed()), Some(urn(expected)));
    }
}

#[test]
fn the_own_urn_is_tried_before_any_alias() {
    let mut planner = planner(vec![resource("former"), resource("a")]);
    assert_eq!(found(&mut planner, Goal { aliases: vec![named("former")], ..goal("a", 1.0) }), Some(urn("a")));
}

#[test]
fn resources_that_wait_for_deletion_are_nobodys_past() {
    let waiting = |name| Arc::new(ResourceState { delete: true, ..old(name) });
    let mut planner = planner(vec![waiting("a"), waiting("former")]);
    assert_eq!(found(&mut planner, Goal { aliases: vec![named("former")], ..goal("a", 1.0) }), None);
}

#[test]
fn children_follow_a_parent_that_was_renamed_or_retyped() {
    let renamed = Goal { aliases: vec![named("g")], ..component("h") };
    let retyped = Goal {
        kind: "tests:index:Other".to_owned(),
        aliases: vec![Alias::Spec {
            name: None,
            kind: Some(GROUP.to_owned()),
            stack: None,
            project: None,
            parent: None,
        }],
        ..component("g")
    };
    // The child's name begins with its parent's; an alias of its own is one below the parent's old URN too.
    for (parent, child, aliases) in
        [(renamed.clone(), "h-a", vec![]), (retyped, "g-a", vec![]), (renamed, "other", vec![named("h-a")])]
    {
        let below = ResourceState { urn: Urn::new("dev", "proj", GROUP, KIND, "g-a"), ..old("a") };
        let mut planner = planner(vec![Arc::new(old_component("g")), Arc::new(below.clone())]);
        let parent = begin(&mut planner, parent).urn;
        let child = Goal { parent: Some(parent), aliases, ..goal(child, 1.0) };
        assert_eq!(found(&mut planner, child), Some(below.urn));
    }
}
