//! Carrying a resource's new URN, which it got by an alias, into the resources that the run did not come to (docs/rules
//! 2.3).

use std::collections::HashSet;
use std::sync::Arc;

use crate::resource_state::ResourceState;
use crate::urn::{Urn, UrnMap};

/// What resources were called before, and are called now.
pub(super) type RenamedUrns = UrnMap<Urn>;

/// The URN of a child whose parent has another URN now.
fn below(child: &Urn, former: &Urn, parent: &Urn) -> Urn {
    let name = match child.name().strip_prefix(former.name()) {
        Some(rest) => format!("{}{rest}", parent.name()),
        None => child.name().to_owned(),
    };
    Urn::new(parent.stack(), parent.project(), parent.qualified_type(), child.own_type(), &name)
}

/// Rewrites the references of `untouched` resources, which come in state order, and the URNs of children of what was
/// renamed; gives what was renamed, these children included. `taken` are the URNs of the resources that the run did
/// finish.
pub(super) fn follow(untouched: &mut [Arc<ResourceState>], taken: &HashSet<Urn>, renamed: &RenamedUrns) -> RenamedUrns {
    let mut renamed = renamed.clone();
    for resource in untouched {
        if !refers(resource, |urn| renamed.contains_key(urn)) {
            continue;
        }
        let mut copy = (**resource).clone();
        if let Some(former) = &resource.parent
            && let Some(parent) = renamed.get(former)
        {
            let urn = below(&resource.urn, former, parent);
            if !taken.contains(&urn) {
                copy.urn = urn;
            }
        }
        rewrite(&mut copy, |urn| renamed.get(urn));
        if copy.urn != resource.urn {
            renamed.insert(resource.urn.clone(), copy.urn.clone());
        }
        *resource = Arc::new(copy);
    }
    renamed
}

/// Rewrites the references of resources that the run did finish. They have their URNs from the program, whatever became
/// of their parents.
pub(super) fn refer(finished: &mut [Arc<ResourceState>], renamed: &RenamedUrns) {
    for resource in finished.iter_mut().filter(|resource| refers(resource, |urn| renamed.contains_key(urn))) {
        rewrite(Arc::make_mut(resource), |urn| renamed.get(urn));
    }
}

/// Has the resources name their providers by these ones' new URNs. One that was replaced under its new URN left an old
/// resource under the former one: who was not moved to the new provider still names that.
pub(super) fn refer_to_providers(resources: &mut [Arc<ResourceState>], renamed: &RenamedUrns) {
    let providers = resources.iter().filter(|resource| resource.urn.provider_package().is_some());
    let there: HashSet<String> = providers.map(|resource| resource.as_provider_reference()).collect();
    for resource in
        resources.iter_mut().filter(|resource| !resource.provider.is_empty() && !there.contains(&resource.provider))
    {
        let Some((former, id)) = resource.provider_parts() else { continue };
        if let Some(reference) = renamed.get(&former).map(|urn| format!("{urn}::{id}"))
            && there.contains(&reference)
        {
            Arc::make_mut(resource).provider = reference;
        }
    }
}

fn refers(resource: &ResourceState, is: impl Fn(&Urn) -> bool) -> bool {
    resource.references().any(|urn| is(&urn))
}

fn rewrite<'a>(resource: &mut ResourceState, now: impl Fn(&Urn) -> Option<&'a Urn>) {
    for urn in resource.references_mut() {
        if let Some(new) = now(urn) {
            *urn = new.clone();
        }
    }
}
