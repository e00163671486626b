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

fn row(name: &str) -> ResourceState {
    ResourceState {
        urn: urn(name),
        kind: "a:b:C".to_owned(),
        custom: true,
        id: format!("id-{name}"),
        ..ResourceState::default()
    }
}

fn snapshot(rows: Vec<ResourceState>) -> Snapshot {
    Snapshot { rows: rows.into_iter().map(Arc::new).collect(), ..Snapshot::default() }
}

fn names(snapshot: &Snapshot) -> Vec<String> {
    snapshot.rows.iter().map(|row| row.urn.name().to_owned()).collect()
}

fn nobody(_: &[String]) -> Result<usize, Failure> {
    Err(Failure::new("nobody to ask"))
}

#[test]
fn every_kind_of_reference_makes_a_dependent() {
    let refer: [fn(&mut ResourceState); 6] = [
        |row| row.parent = Some(urn("a")),
        |row| row.dependencies = vec![urn("a")],
        |row| row.deleted_with = Some(urn("a")),
        |row| row.replace_with = vec![urn("a")],
        |row| row.provider = format!("{}::id-a", urn("a")),
        |row| drop(row.property_dependencies.insert("key".to_owned(), vec![urn("a")])),
    ];
    for (number, refer) in refer.iter().enumerate() {
        let (mut b, mut c) = (row("b"), row("c"));
        refer(&mut b);
        c.dependencies = vec![urn("b")];
        let mut state = snapshot(vec![row("a"), b, c, row("d")]);
        let refused = edit::delete(&mut state, &urn("a"), false, false, &nobody).unwrap_err();
        assert!(refused.message.contains("depend on it"), "{number}");
        assert_eq!(edit::delete(&mut state, &urn("a"), false, true, &nobody).unwrap(), 3, "{number}");
        assert_eq!(names(&state), ["d"], "{number}");
    }
}

#[test]
fn one_of_two_rows_with_the_same_urn_is_chosen() {
    let old = ResourceState { delete: true, id: "old".to_owned(), ..row("a") };
    let dependent = ResourceState { dependencies: vec![urn("a")], ..row("b") };
    let mut state = snapshot(vec![row("a"), dependent, old]);
    assert_eq!(edit::delete(&mut state, &urn("a"), false, false, &nobody).unwrap_err().message, "nobody to ask");
    // The live row depends on nothing that waits for its deletion, so the old one goes without the dependents.
    assert_eq!(edit::delete(&mut state, &urn("a"), false, false, &|_| Ok(1)).unwrap(), 1);
    assert_eq!(names(&state), ["a", "b"]);
}

#[test]
fn a_new_name_reaches_every_place() {
    let reference = Value::Resource(ResourceReference {
        urn: urn("a"),
        id: Some("id-a".to_owned()),
        package_version: String::new(),
    });
    let properties = PropertyMap::from([("list".to_owned(), Value::Array(vec![Value::secret(reference)]))]);
    let b = ResourceState {
        parent: Some(urn("a")),
        dependencies: vec![urn("a")],
        provider: format!("{}::id-a", urn("a")),
        inputs: Arc::new(properties.clone()),
        outputs: Some(Arc::new(properties)),
        ..row("b")
    };
    let mut state = snapshot(vec![row("a"), b]);
    edit::rename(&mut state, &urn("a"), "z").unwrap();
    let text = format!("{state:?}");
    assert!(!text.contains("C::a"), "{text}");
    assert_eq!(text.matches("C::z").count(), 6, "{text}");
    assert!(edit::rename(&mut state, &urn("z"), "b").is_err());
    assert!(edit::rename(&mut state, &urn("gone"), "x").is_err());
}

#[test]
fn values_without_urns_stay_shared() {
    let properties = Arc::new(PropertyMap::from([("text".to_owned(), Value::from("a"))]));
    let mut state = snapshot(vec![ResourceState { inputs: Arc::clone(&properties), ..row("a") }]);
    rewrite_urns(&mut state, &|urn| urn.renamed("z"));
    assert!(Arc::ptr_eq(&state.rows[0].inputs, &properties));
    assert_eq!(names(&state), ["z"]);
}

#[test]
fn all_resources_can_be_forgotten_unless_one_is_protected() {
    let protected = ResourceState { protect: true, ..row("a") };
    let mut state = snapshot(vec![protected, row("b")]);
    assert!(edit::delete_all(&mut state, false).unwrap_err().message.contains("is protected"));
    edit::delete_all(&mut state, true).unwrap();
    assert!(state.rows.is_empty());
}

#[test]
fn of_an_unresolved_create_it_is_said_how_it_is_forgotten() {
    let mut state = snapshot(vec![row("a")]);
    state.pending.push(PendingOperation { row: Arc::new(row("b")), kind: PendingKind::Creating });
    let nobody: &dyn Fn(&[String]) -> _ = &|_: &[String]| Ok(0);
    let message = edit::delete(&mut state, &urn("b"), false, false, nobody).unwrap_err().message;
    assert!(message.contains("--clear-pending-creates"), "{message}");
    let message = edit::rename(&mut state, &urn("c"), "z").unwrap_err().message;
    assert!(message.contains("stack --show-urns"), "{message}");
}
