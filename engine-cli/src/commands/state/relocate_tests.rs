#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::sync::Arc;

use maloko_core::state::{PendingKind, PendingOperation, Snapshot, StackName, integrity};
use maloko_core::value::PropertyMap;
use maloko_core::{ResourceState, Urn, Value};

use super::relocate::{MoveResult, relocate};
use crate::failure::Result;

const PROVIDER: &str = "pulumi:providers:pulumi-python";

fn urn(text: &str) -> Urn {
    Urn::unchecked(&format!("urn:pulumi:{text}"))
}

fn component(urn_text: &str, parent: &str) -> ResourceState {
    let urn = urn(urn_text);
    ResourceState { kind: urn.own_type().to_owned(), parent: Some(self::urn(parent)), urn, ..ResourceState::default() }
}

fn custom(urn_text: &str, parent: &str, provider: &str) -> ResourceState {
    ResourceState { custom: true, id: "1".to_owned(), provider: provider.to_owned(), ..component(urn_text, parent) }
}

/// The stack, its default provider, and a component `group` with the children `a` and `b`, of which `b` needs `a`; and
/// `c`, which needs `b`.
fn source() -> Snapshot {
    let root = "dev::shop::pulumi:pulumi:Stack::shop-dev";
    let provider = format!("{}::p1", urn(&format!("dev::shop::{PROVIDER}::default")));
    let default = ResourceState {
        custom: true,
        id: "p1".to_owned(),
        kind: PROVIDER.to_owned(),
        urn: urn(&format!("dev::shop::{PROVIDER}::default")),
        ..ResourceState::default()
    };
    let group = "dev::shop::x:y:Group::group";
    let (a, b, c) = ("dev::shop::x:y:Group$x:y:T::a", "dev::shop::x:y:Group$x:y:T::b", "dev::shop::x:y:T::c");
    let mut resources = vec![
        ResourceState { parent: None, ..component(root, root) },
        default,
        component(group, root),
        custom(a, group, &provider),
        ResourceState { dependencies: vec![urn(a)], ..custom(b, group, &provider) },
        ResourceState { dependencies: vec![urn(b)], ..custom(c, root, &provider) },
    ];
    resources[5].property_dependencies.insert("key".to_owned(), vec![urn(b)]);
    Snapshot { resources: resources.into_iter().map(Arc::new).collect(), ..Snapshot::default() }
}

fn move_to(to: &mut Snapshot, from: &mut Snapshot, wanted: &[&str], include_parents: bool) -> Result<MoveResult> {
    let wanted: Vec<Urn> = wanted.iter().map(|text| urn(text)).collect();
    relocate(from, to, &StackName::new("store", "prod").unwrap(), &wanted, include_parents, false)
}

fn urns(snapshot: &Snapshot) -> Vec<String> {
    snapshot.resources.iter().map(|resource| resource.urn.as_str().replace("urn:pulumi:", "")).collect()
}

#[test]
fn a_component_moves_with_what_is_below_it() {
    let (mut from, mut to) = (source(), Snapshot::default());
    let moved = move_to(&mut to, &mut from, &["dev::shop::x:y:Group::group"], false).unwrap();
    assert_eq!(
        urns(&to),
        [
            "prod::store::pulumi:pulumi:Stack::store-prod",
            "prod::store::pulumi:providers:pulumi-python::default",
            "prod::store::x:y:Group::group",
            "prod::store::x:y:Group$x:y:T::a",
            "prod::store::x:y:Group$x:y:T::b",
        ]
    );
    assert_eq!(urns(&from).last().unwrap(), "dev::shop::x:y:T::c");
    assert_eq!(from.resources.len(), 3);
    integrity::check(&to).unwrap();
    integrity::check(&from).unwrap();
    let b = to.resources.last().unwrap();
    assert_eq!(b.dependencies, [urn("prod::store::x:y:Group$x:y:T::a")]);
    assert_eq!(moved.urns.len(), 3);
    assert_eq!(moved.notes.len(), 1, "{:?}", moved.notes);
    assert!(moved.notes[0].contains("::c no longer refers to"), "{:?}", moved.notes);
}

#[test]
fn a_child_alone_becomes_a_child_of_the_other_stack() {
    let (mut from, mut to) = (source(), Snapshot::default());
    let moved = move_to(&mut to, &mut from, &["dev::shop::x:y:Group$x:y:T::b"], false).unwrap();
    assert_eq!(urns(&to).last().unwrap(), "prod::store::x:y:T::b");
    assert_eq!(to.resources.last().unwrap().parent, Some(urn("prod::store::pulumi:pulumi:Stack::store-prod")));
    assert_eq!(moved.notes.len(), 2, "{:?}", moved.notes);
    integrity::check(&to).unwrap();
    integrity::check(&from).unwrap();
}

#[test]
fn parents_come_along_when_that_is_asked_for() {
    let (mut from, mut to) = (source(), Snapshot::default());
    move_to(&mut to, &mut from, &["dev::shop::x:y:Group$x:y:T::b"], true).unwrap();
    assert_eq!(to.resources.len(), 5);
    assert_eq!(from.resources.len(), 3);
}

#[test]
fn what_cannot_be_moved_is_said_and_nothing_happens() {
    let (a, b) = ("dev::shop::x:y:Group$x:y:T::a", "dev::shop::x:y:Group$x:y:T::b");
    let refused = |from: &mut Snapshot, to: &mut Snapshot, wanted: &str| {
        let failure = move_to(to, from, &[wanted], false).unwrap_err();
        failure.message
    };
    let mut errors = vec![
        refused(&mut source(), &mut Snapshot::default(), "dev::shop::x:y:T::none"),
        refused(&mut source(), &mut Snapshot::default(), "dev::shop::pulumi:pulumi:Stack::shop-dev"),
        refused(&mut source(), &mut Snapshot::default(), "dev::shop::pulumi:providers:pulumi-python::default"),
    ];
    let mut taken = Snapshot::default();
    move_to(&mut taken, &mut source(), &[b], false).unwrap();
    errors.push(refused(&mut source(), &mut taken, b));
    let mut interrupted = source();
    let resource = Arc::clone(&interrupted.resources[3]);
    interrupted.pending.push(PendingOperation { resource, kind: PendingKind::Updating });
    errors.push(refused(&mut interrupted, &mut Snapshot::default(), a));
    let mut replaced = source();
    let old = ResourceState { delete: true, ..(*replaced.resources[3]).clone() };
    replaced.resources.push(Arc::new(old));
    errors.push(refused(&mut replaced, &mut Snapshot::default(), a));
    insta::assert_snapshot!(maloko_core::Message::join(&errors, "\n"), @r#"
    No such resource "urn:pulumi:dev::shop::x:y:T::none" exists in the current state; `maloko stack --show-urns` lists them
    the stack itself cannot be moved; name the resources in it
    urn:pulumi:dev::shop::pulumi:providers:pulumi-python::default is a provider: providers are not moved but copied along with the resources that they serve
    urn:pulumi:dev::shop::x:y:Group$x:y:T::b would be urn:pulumi:prod::store::x:y:T::b in stack 'prod', where there is such a resource already; rename one of them first with `maloko state rename`
    a run was interrupted while updating urn:pulumi:dev::shop::x:y:Group$x:y:T::a; run `maloko refresh` first, which settles that
    an old object of urn:pulumi:dev::shop::x:y:Group$x:y:T::a still waits for its deletion; run `maloko up` first, which deletes it
    "#);
}

#[test]
fn a_provider_of_ones_own_is_copied_once_and_must_be_alike() {
    let explicit = |size: f64| {
        let mut state = source();
        let provider = ResourceState {
            urn: urn(&format!("dev::shop::{PROVIDER}::mine")),
            inputs: Arc::new(PropertyMap::from([("size".to_owned(), Value::from(size))])),
            // What does not go with it.
            deleted_with: Some(urn("dev::shop::x:y:Group::group")),
            replace_with: vec![urn("dev::shop::x:y:Group::group")],
            ..(*state.resources[1]).clone()
        };
        state.resources.insert(2, Arc::new(provider));
        for resource in &mut state.resources[4..] {
            Arc::make_mut(resource).provider = format!("{}::p1", urn(&format!("dev::shop::{PROVIDER}::mine")));
        }
        state
    };
    let mut to = Snapshot::default();
    move_to(&mut to, &mut explicit(1.0), &["dev::shop::x:y:T::c"], false).unwrap();
    move_to(&mut to, &mut explicit(1.0), &["dev::shop::x:y:Group$x:y:T::a"], false).unwrap();
    assert_eq!(urns(&to).iter().filter(|urn| urn.ends_with("::mine")).count(), 1, "{:?}", urns(&to));
    integrity::check(&to).unwrap();
    let failure = move_to(&mut to, &mut explicit(2.0), &["dev::shop::x:y:Group$x:y:T::b"], false).unwrap_err();
    assert!(failure.message.contains("with other settings"), "{}", failure.message);
}
