#![expect(clippy::unwrap_used, reason = "a test fails with the error")]

use std::sync::Arc;

use maloko_core::state::{PendingKind, PendingOperation, Snapshot};
use maloko_core::value::{PropertyMap, ResourceReference};
use maloko_core::{ResourceState, Urn, Value};

use super::edit;
use crate::commands::rewrite::rewrite_urns;
use crate::failure::Failure;

fn urn(name: &str) -> Urn {
    Urn::new("dev", "shop", "", "a:b:C", name)
}

fn resource(name: &str) -> ResourceState {
    ResourceState {
        urn: urn(name),
        kind: "a:b:C".to_owned(),
        custom: true,
        id: format!("id-{name}"),
        ..ResourceState::default()
    }
}

fn snapshot(resources: Vec<ResourceState>) -> Snapshot {
    Snapshot { resources: resources.into_iter().map(Arc::new).collect(), ..Snapshot::default() }
}

fn names(snapshot: &Snapshot) -> Vec<String> {
    snapshot.resources.iter().map(|resource| resource.urn.name().to_owned()).collect()
}

fn nobody(_: &[String]) -> Result<usize, Failure> {
    Err(Failure::new("nobody to ask"))
}

#[test]
fn every_kind_of_reference_makes_a_dependent() {
    let refer: [fn(&mut ResourceState); 6] = [
        |resource| resource.parent = Some(urn("a")),
        |resource| resource.dependencies = vec![urn("a")],
        |resource| resource.deleted_with = Some(urn("a")),
        |resource| resource.replace_with = vec![urn("a")],
        |resource| resource.provider = format!("{}::id-a", urn("a")),
        |resource| drop(resource.property_dependencies.insert("key".to_owned(), vec![urn("a")])),
    ];
    for (number, refer) in refer.iter().enumerate() {
        let (mut b, mut c) = (resource("b"), resource("c"));
        refer(&mut b);
        c.dependencies = vec![urn("b")];
        let mut state = snapshot(vec![resource("a"), b, c, resource("d")]);
        let refused = edit::delete(&mut state, &urn("a"), false, false, &nobody).unwrap_err();
        assert!(refused.message.contains("depend on it"), "{number}");
        assert_eq!(edit::delete(&mut state, &urn("a"), false, true, &nobody).unwrap(), 3, "{number}");
        assert_eq!(names(&state), ["d"], "{number}");
    }
}

#[test]
fn one_of_two_resources_with_the_same_urn_is_chosen() {
    let old = ResourceState { delete: true, id: "old".to_owned(), ..resource("a") };
    let dependent = ResourceState { dependencies: vec![urn("a")], ..resource("b") };
    let mut state = snapshot(vec![resource("a"), dependent, old]);
    assert_eq!(edit::delete(&mut state, &urn("a"), false, false, &nobody).unwrap_err().message, "nobody to ask");
    // The live resource depends on nothing that waits for its deletion, so the old one goes without the dependents.
    assert_eq!(edit::delete(&mut state, &urn("a"), false, false, &|_| Ok(1)).unwrap(), 1);
    assert_eq!(names(&state), ["a", "b"]);
}

#[test]
fn a_new_name_reaches_every_place() {
    let reference =
        Value::from(ResourceReference { urn: urn("a"), id: Some("id-a".to_owned()), package_version: String::new() });
    let properties = PropertyMap::from([("list".to_owned(), Value::Array(vec![Value::secret(reference)]))]);
    let b = ResourceState {
        parent: Some(urn("a")),
        dependencies: vec![urn("a")],
        provider: format!("{}::id-a", urn("a")),
        inputs: Arc::new(properties.clone()),
        outputs: Some(Arc::new(properties)),
        ..resource("b")
    };
    let mut state = snapshot(vec![resource("a"), b]);
    edit::rename(&mut state, &urn("a"), "z").unwrap();
    let text = format!("{state:?}");
    assert!(!text.contains("C::a"), "{text}");
    assert_eq!(text.matches("C::z").count(), 6, "{text}");
    assert!(edit::rename(&mut state, &urn("z"), "b").is_err());
    assert!(edit::rename(&mut state, &urn("gone"), "x").is_err());
}

#[test]
fn a_name_that_no_program_would_give_is_refused() {
    let mut state = snapshot(vec![resource("a")]);
    let mut refused = |name: &str| edit::rename(&mut state, &urn("a"), name).unwrap_err().to_string();
    assert!(refused(urn("b").as_str()).ends_with("is a URN, and the new name is the last part of one: give 'b'"));
    assert_eq!([refused(""), refused(" \t")], ["the new name is empty", "the new name is empty"]);
    assert_eq!(refused("a\nb"), "the new name \"a\\nb\" has a control character in it");
    assert!(format!("{state:?}").contains("C::a"));
}

#[test]
fn values_without_urns_stay_shared() {
    let properties = Arc::new(PropertyMap::from([("text".to_owned(), Value::from("a"))]));
    let mut state = snapshot(vec![ResourceState { inputs: Arc::clone(&properties), ..resource("a") }]);
    rewrite_urns(&mut state, &|urn| urn.renamed("z"));
    assert!(Arc::ptr_eq(&state.resources[0].inputs, &properties));
    assert_eq!(names(&state), ["z"]);
}

#[test]
fn all_resources_can_be_forgotten_unless_one_is_protected() {
    let protected = ResourceState { protect: true, ..resource("a") };
    let mut state = snapshot(vec![protected, resource("b")]);
    assert!(edit::delete_all(&mut state, false).unwrap_err().message.contains("is protected"));
    edit::delete_all(&mut state, true).unwrap();
    assert!(state.resources.is_empty());
}

#[test]
fn of_an_unresolved_create_it_is_said_how_it_is_forgotten() {
    let mut state = snapshot(vec![resource("a")]);
    state.pending.push(PendingOperation { resource: Arc::new(resource("b")), kind: PendingKind::Creating });
    let nobody: &dyn Fn(&[String]) -> _ = &|_: &[String]| Ok(0);
    let message = edit::delete(&mut state, &urn("b"), false, false, nobody).unwrap_err().message;
    assert!(message.contains("--clear-pending-creates"), "{message}");
    let message = edit::rename(&mut state, &urn("c"), "z").unwrap_err().message;
    assert!(message.contains("stack --show-urns"), "{message}");
}
