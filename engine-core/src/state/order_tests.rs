use proptest::prelude::*;

use super::*;
use crate::state::Snapshot;
use crate::state::fixtures::{PROVIDER_URN, provider_resource, resource, urn};
use crate::state::integrity::check;
use crate::urn::Urn;

fn depends(name: &str, on: &[&str]) -> ResourceState {
    ResourceState { dependencies: on.iter().map(|name| urn(name)).collect(), ..resource(name, 1.0) }
}

fn below(parent: &str, child: ResourceState) -> ResourceState {
    ResourceState { parent: Some(urn(parent)), ..child }
}

fn pending_delete(resource: ResourceState) -> ResourceState {
    ResourceState { delete: true, id: format!("old-{}", resource.id), ..resource }
}

/// The names in their order, an old object with a prime.
fn names(resources: &[ResourceState]) -> String {
    let resources: Vec<_> =
        std::iter::once(provider_resource()).chain(resources.iter().cloned().map(Arc::new)).collect();
    let told =
        |resource: &Arc<ResourceState>| format!("{}{}", resource.urn.name(), if resource.delete { "'" } else { "" });
    canonical(&resources).iter().skip(1).map(told).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_resource_follows_what_it_refers_to_and_then_the_names_decide() {
    let resources = [
        depends("a", &["m"]),
        resource("z", 1.0),
        resource("b", 1.0),
        resource("m", 1.0),
        below("z", resource("c", 1.0)),
    ];
    assert_eq!(names(&resources), "b m a z c");
}

#[test]
fn the_resource_of_the_stack_comes_first() {
    let stack = Urn::new("dev", "shop", "", "pulumi:pulumi:Stack", "shop-dev");
    let kind = "pulumi:pulumi:Stack".to_owned();
    let stack = Arc::new(ResourceState { urn: stack.clone(), kind, ..ResourceState::default() });
    let order = canonical(&[provider_resource(), Arc::clone(&stack)]);
    assert_eq!((&order[0], order[1].urn.as_str()), (&stack, PROVIDER_URN));
}

#[test]
fn what_depends_on_a_component_follows_its_children_where_that_can_be() {
    let tree =
        [resource("c", 1.0), below("c", resource("y", 1.0)), below("y", resource("z", 1.0)), depends("a", &["c"])];
    assert_eq!(names(&tree), "c y z a");
    // A child that needs it cannot come before it.
    let crossed =
        [resource("c", 1.0), below("c", resource("x", 1.0)), below("c", depends("y", &["a"])), depends("a", &["c"])];
    assert_eq!(names(&crossed), "c x a y");
}

#[test]
fn old_objects_stand_behind_in_the_order_of_their_objects() {
    let resources = [
        pending_delete(depends("a", &["z"])),
        pending_delete(resource("z", 1.0)),
        resource("z", 2.0),
        depends("a", &["z"]),
        below("z", pending_delete(resource("m", 1.0))),
    ];
    assert_eq!(names(&resources), "z a z' a' m'");
}

#[test]
fn an_old_provider_that_is_still_used_comes_before_those_who_use_it() {
    let provider = |id: &str, delete| ResourceState { id: id.into(), delete, ..(*provider_resource()).clone() };
    let user = ResourceState { provider: format!("{PROVIDER_URN}::old"), ..resource("a", 1.0) };
    let order = canonical(&[provider("new", false), user, provider("old", true)].map(Arc::new));
    let told: Vec<_> = order.iter().map(|resource| resource.id.as_str()).collect();
    assert_eq!(told, ["new", "old", "id-a"]);
}

#[test]
fn resources_that_refer_to_one_another_and_long_chains_are_no_trouble() {
    assert_eq!(names(&[depends("b", &["a"]), depends("a", &["b"]), depends("c", &["a"])]), "a b c");
    assert_eq!(names(&[below("b", resource("a", 1.0)), below("a", resource("b", 1.0))]), "a b");
    let chain = |i: usize| Arc::new(below(&(i + 1).to_string(), depends(&i.to_string(), &[&(i + 1).to_string()])));
    let chain: Vec<_> = (0..50_000).map(chain).collect();
    let order = canonical(&chain);
    assert_eq!((order[0].urn.name(), order[49_999].urn.name()), ("49999", "0"));
}

/// Resources that refer to ones before them, some of them old objects; and the same resources in another order.
fn sound_resources() -> impl Strategy<Value = (Vec<Arc<ResourceState>>, Vec<Arc<ResourceState>>)> {
    let draws = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8), 1..30);
    draws.prop_flat_map(|draws| {
        let mut resources = vec![provider_resource()];
        let mut living: Vec<String> = Vec::new();
        for (number, (parent, dependency, kind)) in draws.into_iter().enumerate() {
            let some = |index: prop::sample::Index| (!living.is_empty()).then(|| index.get(&living).clone());
            let name = format!("r{}", number * 7 % 31);
            let mut made = resource(&name, 1.0);
            made.parent = some(parent).filter(|_| kind % 2 == 0).map(|name| urn(&name));
            made.dependencies = some(dependency).iter().map(|name| urn(name)).collect();
            if kind == 3 {
                resources.push(Arc::new(pending_delete(made.clone())));
            }
            resources.push(Arc::new(made));
            living.push(name);
        }
        (Just(resources.clone()), Just(resources).prop_shuffle())
    })
}

proptest! {
    #[test]
    fn the_order_depends_on_the_resources_alone_and_is_sound((resources, shuffled) in sound_resources()) {
        let order = canonical(&resources);
        prop_assert_eq!(&order, &canonical(&shuffled));
        prop_assert_eq!(&order, &canonical(&order));
        prop_assert_eq!(order.len(), resources.len());
        let snapshot = Snapshot { resources: order, ..Snapshot::default() };
        prop_assert_eq!(check(&snapshot), Ok(()));
    }
}
