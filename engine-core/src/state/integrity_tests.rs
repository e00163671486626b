#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::json;

use super::*;
use crate::state::Checkpoint;
use crate::state::fixtures::{PULUMI_NODEJS, PULUMI_PYTHON, provider_resource, resource, urn};

fn snapshot(resources: Vec<ResourceState>) -> Snapshot {
    let resources = std::iter::once(provider_resource()).chain(resources.into_iter().map(Arc::new)).collect();
    Snapshot { resources, ..Snapshot::default() }
}

fn depends(name: &str, on: &[&str]) -> ResourceState {
    ResourceState { dependencies: on.iter().map(|name| urn(name)).collect(), ..resource(name, 1.0) }
}

fn names(resources: &[Arc<ResourceState>]) -> Vec<&str> {
    resources.iter().map(|resource| resource.urn.name()).collect()
}

#[test]
fn recorded_states_are_sound() {
    for bytes in [PULUMI_PYTHON, PULUMI_NODEJS] {
        let mut snapshot = Checkpoint::decode(bytes, "x").unwrap().snapshot;
        assert_eq!(check(&snapshot), Ok(()));
        assert!(repair(&mut snapshot).is_empty());
        snapshot.other["manifest"]["version"] = json!("3.0.0");
        assert!(check(&snapshot).unwrap_err().contains("magic"));
    }
}

#[test]
fn each_broken_rule_is_named() {
    let component = ResourceState { custom: false, id: String::new(), provider: String::new(), ..resource("c", 1.0) };
    let broken: Vec<(&str, ResourceState)> = vec![
        ("no URN", ResourceState { urn: Urn::default(), ..resource("a", 1.0) }),
        ("not a URN", ResourceState { urn: Urn::unchecked("urn:x"), ..resource("a", 1.0) }),
        ("no type", ResourceState { kind: String::new(), ..resource("a", 1.0) }),
        ("not the one in its URN", ResourceState { kind: "a:b:C".into(), ..resource("a", 1.0) }),
        ("has an id", ResourceState { id: "1".into(), ..component.clone() }),
        ("has a provider", ResourceState { provider: "p".into(), ..component }),
        ("malformed provider", ResourceState { provider: "p".into(), ..resource("a", 1.0) }),
        (
            "does not come before",
            ResourceState { provider: format!("{}::other", provider_resource().urn), ..resource("a", 1.0) },
        ),
        ("(parent)", ResourceState { parent: Some(urn("x")), ..resource("a", 1.0) }),
        ("(dependency)", depends("a", &["x"])),
        (
            "(property dependency)",
            ResourceState { property_dependencies: [("k".into(), vec![urn("x")])].into(), ..resource("a", 1.0) },
        ),
        ("(deletedWith)", ResourceState { deleted_with: Some(urn("x")), ..resource("a", 1.0) }),
        ("(replaceWith)", ResourceState { replace_with: vec![urn("a")], ..resource("a", 1.0) }),
    ];
    for (expected, resource) in broken {
        let message = check(&snapshot(vec![resource])).unwrap_err();
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn a_urn_may_repeat_only_among_resources_that_wait_for_deletion() {
    let old = ResourceState { delete: true, ..resource("a", 1.0) };
    assert_eq!(check(&snapshot(vec![resource("a", 2.0), old.clone(), old.clone()])), Ok(()));
    assert_eq!(check(&snapshot(vec![old, resource("a", 2.0)])), Ok(()));
    assert!(check(&snapshot(vec![resource("a", 2.0), resource("a", 1.0)])).unwrap_err().contains("twice"));
}

#[test]
fn a_resource_that_waits_for_its_replacement_needs_no_provider() {
    let waiting = ResourceState { pending_replacement: true, provider: "gone::1".into(), ..resource("a", 1.0) };
    assert_eq!(check(&snapshot(vec![waiting])), Ok(()));
}

#[test]
fn repair_sorts_and_drops_what_dangles() {
    let mut broken = snapshot(vec![
        ResourceState { parent: Some(urn("gone")), ..depends("a", &["gone", "b"]) },
        ResourceState { property_dependencies: [("k".into(), vec![urn("gone")])].into(), ..resource("b", 1.0) },
    ]);
    broken.resources.rotate_left(1);
    let done = repair(&mut broken);
    assert_eq!(check(&broken), Ok(()));
    assert_eq!(names(&broken.resources), ["default", "b", "a"]);
    assert_eq!(done.len(), 4, "{done:?}");
}

#[test]
fn resources_of_very_old_states_are_completed() {
    let mut old = Snapshot {
        resources: vec![Arc::new(ResourceState { provider: String::new(), ..resource("a", 1.0) })],
        ..Snapshot::default()
    };
    complete_old_resources(&mut old);
    assert_eq!(check(&old), Ok(()));
    assert_eq!((names(&old.resources), old.resources[0].id.len()), (vec!["default", "a"], 36));

    let mut provider = (*provider_resource()).clone();
    provider.inputs = Arc::new([("k".into(), "v".into()), ("__internal".into(), crate::value::Value::Null)].into());
    let mut old = Snapshot { resources: vec![Arc::new(provider)], ..Snapshot::default() };
    complete_old_resources(&mut old);
    assert_eq!(*old.resources[0].outputs_or_empty(), [("k".into(), "v".into())].into());
}

#[test]
fn what_is_there_twice_is_dropped_and_dynamic_resources_get_a_provider() {
    // Two identical resources, the provider's state gone.
    let twice = vec![resource("a", 1.0), resource("a", 1.0), depends("b", &["a"])];
    let mut broken = Snapshot { resources: twice.into_iter().map(Arc::new).collect(), ..Snapshot::default() };
    assert!(check(&broken).is_err());
    let done = repair(&mut broken);
    assert!(
        done.iter().any(|line| line.contains("is there twice")) && done.iter().any(|line| line.contains("gave it"))
    );
    assert_eq!(check(&broken), Ok(()));
    assert_eq!(names(&broken.resources), ["default", "a", "b"]);
    // One that is there under another id is used.
    let mut other =
        snapshot(vec![ResourceState { provider: format!("{}::gone", provider_resource().urn), ..resource("a", 1.0) }]);
    assert!(!repair(&mut other).is_empty());
    assert_eq!((check(&other), other.resources.len()), (Ok(()), 2));
    // Of two that differ, nobody knows which is right.
    let mut differing = snapshot(vec![resource("a", 1.0), resource("a", 2.0)]);
    assert!(repair(&mut differing).is_empty());
    assert!(check(&differing).unwrap_err().contains("is there twice"));
}
