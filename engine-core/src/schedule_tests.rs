//! The order of deletions (docs/rules 5).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::deletion_levels;
use crate::provider::{SerializedProvider, StoredProvider};
use crate::resource_state::ResourceState;
use crate::urn::{STACK_TYPE, Urn};

const THING: &str = "pulumi-python:dynamic:Thing";

fn urn(name: &str) -> Urn {
    Urn::new("dev", "proj", "", THING, name)
}

fn resource(name: &str) -> ResourceState {
    ResourceState { urn: urn(name), custom: true, kind: THING.to_owned(), ..ResourceState::default() }
}

/// The names of each level.
fn levels(resources: Vec<ResourceState>) -> Vec<String> {
    let resources: BTreeMap<u32, Arc<ResourceState>> = (0..).zip(resources.into_iter().map(Arc::new)).collect();
    let names = |level: Vec<(u32, Arc<ResourceState>)>| {
        let mut names: Vec<_> = level.iter().map(|(_, resource)| resource.urn.name().to_owned()).collect();
        names.sort();
        names.join(" ")
    };
    deletion_levels(&resources).into_iter().map(names).collect()
}

#[test]
fn every_kind_of_reference_is_waited_for() {
    let provider = Urn::new("dev", "proj", "", "pulumi:providers:pulumi-python", "default");
    for user in [
        ResourceState { provider: format!("{provider}::id"), ..resource("user") },
        ResourceState { parent: Some(urn("used")), ..resource("user") },
        ResourceState { dependencies: vec![urn("used")], ..resource("user") },
        ResourceState { property_dependencies: [("p".to_owned(), vec![urn("used")])].into(), ..resource("user") },
        ResourceState { deleted_with: Some(urn("used")), ..resource("user") },
        ResourceState { replace_with: vec![urn("used")], ..resource("user") },
    ] {
        let used = if user.provider.is_empty() {
            resource("used")
        } else {
            ResourceState { urn: provider.clone(), ..resource("default") }
        };
        let name = used.urn.name().to_owned();
        assert_eq!(levels(vec![used, user.clone()]), ["user".to_owned(), name], "{user:?}");
    }
}

#[test]
fn what_depends_on_a_component_goes_before_its_children() {
    let group = Urn::new("dev", "proj", "", "tests:index:Group", "group");
    let child = ResourceState { parent: Some(group.clone()), ..resource("child") };
    let grandchild = ResourceState { parent: Some(urn("child")), ..resource("grandchild") };
    let user = ResourceState { dependencies: vec![group.clone()], ..resource("user") };
    let component = ResourceState { urn: group, custom: false, ..resource("group") };
    assert_eq!(levels(vec![component, child, grandchild, user]), ["user", "grandchild", "child", "group"]);
}

#[test]
fn levels_hold_what_may_go_side_by_side() {
    let stack = Urn::new("dev", "proj", "", STACK_TYPE, "proj-dev");
    let below = |name: &str, of: &[&str]| ResourceState {
        parent: Some(stack.clone()),
        dependencies: of.iter().map(|name| urn(name)).collect(),
        ..resource(name)
    };
    let root =
        ResourceState { urn: stack.clone(), custom: false, kind: STACK_TYPE.to_owned(), ..ResourceState::default() };
    let resources = vec![root, below("a", &[]), below("b", &[]), below("c", &["a"]), below("d", &["a", "c"])];
    // The stack's other children are no reason to wait.
    assert_eq!(levels(resources), ["d", "c", "a b", "proj-dev"]);
}

#[test]
fn resources_that_wait_for_deletion_keep_their_place() {
    let old_a = ResourceState { delete: true, ..resource("a") };
    let old_b = ResourceState { delete: true, dependencies: vec![urn("a")], ..resource("b") };
    assert_eq!(levels(vec![old_a, old_b, resource("other")]), ["b", "a other"]);
}

#[test]
fn what_depends_on_a_replaced_resource_goes_before_each_of_its_states() {
    let on = |name: &str| vec![urn(name)];
    let old = ResourceState { delete: true, dependencies: on("zone"), ..resource("a") };
    let user = ResourceState { dependencies: on("a"), ..resource("user") };
    assert_eq!(levels(vec![resource("zone"), old, resource("a"), user]), ["user", "a", "a zone"]);
}

#[test]
fn what_lends_code_its_environment_goes_after_the_code() {
    let code = Arc::new(SerializedProvider { text: "gASV".to_owned(), secret: true });
    let component = Urn::new("dev", "proj", "", "rack:index:Rack", "rack");
    let child = ResourceState {
        urn: Urn::new("dev", "proj", "rack:index:Rack", THING, "child"),
        stored_provider: StoredProvider::Code(code),
        ..resource("child")
    };
    let provider = |package: &str, name: &str, of: Vec<Urn>| {
        let kind = format!("pulumi:providers:{package}");
        let urn = Urn::new("dev", "proj", "", &kind, name);
        ResourceState { urn, kind, dependencies: of, ..resource(name) }
    };
    let lender = provider("rack", "lender", vec![urn("used")]);
    let other = provider("shelf", "other", Vec::new());
    let component = ResourceState { urn: component, custom: false, ..resource("rack") };
    let resources = vec![resource("used"), lender, other, component, child];
    assert_eq!(levels(resources), ["child", "lender", "other rack used"]);
}
