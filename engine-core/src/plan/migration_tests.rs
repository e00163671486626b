#![expect(clippy::expect_used, reason = "what is refused or allowed against expectation is a failed test")]

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::plan::testing::{group, old, old_component, urn};
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::Urn;

use super::{Migration, migrate};

/// A component, one of its own, and a resource in each.
fn given() -> Vec<(ResourceNumber, Arc<ResourceState>)> {
    let inner = ResourceState { parent: Some(group("team")), ..old_component("inner") };
    let first = ResourceState { parent: Some(group("team")), ..old("a") };
    let second = ResourceState { parent: Some(group("inner")), dependencies: vec![urn("a")], ..old("b") };
    [old_component("team"), first, inner, second]
        .into_iter()
        .zip(3..)
        .map(|(resource, number)| (number, Arc::new(resource)))
        .collect()
}

fn resources() -> Vec<ResourceState> {
    given().iter().map(|(_, resource)| (**resource).clone()).collect()
}

fn successors<const N: usize>(pairs: [(Urn, Urn); N]) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(from, to)| (from.to_string(), to.to_string())).collect()
}

fn refused(resources: Vec<ResourceState>, successors: BTreeMap<String, String>) -> String {
    migrate(&given(), resources, successors).expect_err("it should be refused")
}

fn numbers(migration: &Migration) -> Vec<ResourceNumber> {
    migration.set.iter().map(|(number, _)| *number).collect()
}

#[test]
fn what_is_returned_as_it_was_changes_nothing() {
    let migration = migrate(&given(), resources(), BTreeMap::new()).expect("it is as it was");
    assert!(migration.set.is_empty() && migration.removed.is_empty());
}

#[test]
fn a_renamed_resource_keeps_its_place_and_is_followed() {
    let mut resources = resources();
    resources[1].urn = urn("renamed");
    let migration = migrate(&given(), resources, successors([(urn("a"), urn("renamed"))])).expect("it is allowed");
    assert_eq!(numbers(&migration), [4, 6]);
    assert_eq!(migration.set[1].1.dependencies, [urn("renamed")]);
}

#[test]
fn a_component_can_be_merged_into_another() {
    let mut resources = resources();
    resources.remove(2);
    resources[2].parent = Some(group("team"));
    let migration = migrate(&given(), resources, successors([(group("inner"), group("team"))])).expect("it is allowed");
    assert_eq!((numbers(&migration), migration.removed), (vec![6], vec![5]));
}

#[test]
fn everything_given_has_to_go_somewhere() {
    let mut left_out = resources();
    left_out.remove(1);
    assert!(refused(left_out.clone(), BTreeMap::new()).contains("::a' is left out"));
    assert!(refused(left_out.clone(), successors([(urn("a"), urn("nobody"))])).contains("nobody' of"));
    let merged = refused(left_out, successors([(urn("a"), urn("b"))]));
    assert!(merged.contains("would be forgotten"), "{merged}");
    assert!(refused(resources(), successors([(urn("a"), urn("b"))])).contains("has a successor as well"));
    assert!(refused(resources(), successors([(urn("stranger"), urn("b"))])).contains("which was not given"));
    let mut twice = resources();
    twice.push(old("a"));
    assert!(refused(twice, BTreeMap::new()).contains("returned twice"));
}

#[test]
fn objects_and_what_keeps_them_safe_stay_as_they_are() {
    let before = || old("a");
    let changes = [
        ("id", ResourceState { id: "other".to_owned(), ..before() }),
        ("protect", ResourceState { protect: true, ..before() }),
        ("custom", ResourceState { custom: false, ..before() }),
        ("retainOnDelete", ResourceState { retain_on_delete: true, ..before() }),
        ("delete", ResourceState { delete: true, ..before() }),
    ];
    for (member, changed) in changes {
        let mut resources = resources();
        resources[1] = ResourceState { parent: Some(group("team")), ..changed };
        let said = refused(resources, BTreeMap::new());
        assert!(said.contains(&format!("another `{member}`")), "{said}");
    }
}

#[test]
fn a_resource_that_succeeds_nothing_or_stands_before_its_parent_is_refused() {
    let mut more = resources();
    more.push(ResourceState { parent: Some(group("team")), ..old_component("new") });
    assert!(refused(more, BTreeMap::new()).contains("it adds none"));
    let mut early = resources();
    early[1].parent = Some(group("inner"));
    assert!(refused(early, BTreeMap::new()).contains("which does not stand before it"));
    let mut odd = resources();
    odd[1].kind = "a:b:C".to_owned();
    assert!(refused(odd, BTreeMap::new()).contains("of the type 'a:b:C'"));
}

#[test]
fn resources_with_views_are_not_migrated() {
    let mut given = given();
    let view = ResourceState { view_of: Some(urn("a")), parent: Some(urn("a")), ..old_component("part") };
    given.push((7, Arc::new(view)));
    let resources = given.iter().map(|(_, resource)| (**resource).clone()).collect();
    let refused = migrate(&given, resources, BTreeMap::new()).err().unwrap_or_default();
    assert!(refused.contains("part' is a view"), "{refused}");
}
