//! The order of deletions (docs/rules 5).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::Urn;

/// Resources that may be deleted side by side.
pub type Level = Vec<(ResourceNumber, Arc<ResourceState>)>;

/// Groups resources for deletion: the resources of one group may be deleted side by side, and each group after the one
/// before it is gone. Dependents go before what they depend on; what depends on a component goes before the component's
/// children.
#[must_use]
pub fn deletion_levels(condemned: &BTreeMap<ResourceNumber, Arc<ResourceState>>) -> Vec<Level> {
    let mut depths: HashMap<&Urn, usize> = HashMap::with_capacity(condemned.len());
    let mut children: HashMap<&Urn, Vec<&Urn>> = HashMap::new();
    let mut levels: Vec<Level> = Vec::new();
    for (number, resource) in condemned {
        // What lends code its environment is named by no reference.
        let lenders = if resource.code().is_some() { Some(condemned.values()) } else { None };
        let lenders = lenders.into_iter().flatten().filter(|other| other.lends_environment_to(resource));
        let mut depth = lenders.filter_map(|other| depths.get(&other.urn)).map(|below| below + 1).max().unwrap_or(0);
        for urn in resource.references() {
            if let Some(below) = depths.get(&urn) {
                depth = depth.max(below + 1);
            }
            // The resource's own ancestors are no reason to wait for its siblings.
            if resource.parent.as_ref() != Some(&urn) {
                let mut open: Vec<&Urn> = children.get(&urn).cloned().unwrap_or_default();
                while let Some(child) = open.pop() {
                    if *child != resource.urn
                        && let Some(below) = depths.get(child)
                    {
                        depth = depth.max(below + 1);
                    }
                    open.extend(children.get(child).into_iter().flatten());
                }
            }
        }
        // Several resources of one URN (pending deletions) share the greatest depth.
        let known = depths.entry(&resource.urn).or_insert(depth);
        *known = (*known).max(depth);
        if let Some(parent) = &resource.parent
            && !parent.is_root_stack()
        {
            children.entry(parent).or_default().push(&resource.urn);
        }
        if levels.len() <= depth {
            levels.resize(depth + 1, Vec::new());
        }
        levels[depth].push((*number, Arc::clone(resource)));
    }
    levels.reverse();
    levels
}

#[cfg(test)]
#[path = "schedule_tests.rs"]
mod tests;
