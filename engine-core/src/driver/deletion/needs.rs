//! What stays with a resource that stays: all that it refers to.

use crate::hash::FixedSet;
use crate::plan::Leftovers;
use crate::state::ResourceNumber;
use crate::urn::UrnSet;

/// Marks the condemned resources that a resource which was not deleted depends on.
pub(super) fn keep_what_it_needs(number: ResourceNumber, condemned: &Leftovers, kept: &mut FixedSet<ResourceNumber>) {
    let mut open = vec![number];
    while let Some(number) = open.pop() {
        let Some(resource) = condemned.get(&number) else { continue };
        let needed: UrnSet = resource.references().collect();
        for (other, candidate) in condemned {
            let is_needed = needed.contains(&candidate.urn) || candidate.lends_environment_to(resource);
            if is_needed && kept.insert(*other) {
                open.push(*other);
            }
        }
    }
}
