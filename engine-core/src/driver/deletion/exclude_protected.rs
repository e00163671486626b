//! A destroy that leaves protected resources in place.

use crate::hash::FixedSet;
use crate::plan::Leftovers;
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;

use crate::driver::answers::SparedResources;
use crate::driver::deletion::needs::keep_what_it_needs;

/// Takes out of what is to go the protected resources and all that they need. Gives how many stay.
pub(super) fn exclude_protected(
    condemned: &mut Leftovers,
    is_protected: impl Fn(&ResourceState) -> bool,
) -> SparedResources {
    let protected: FixedSet<ResourceNumber> =
        condemned.iter().filter(|(_, resource)| is_protected(resource)).map(|(number, _)| *number).collect();
    let mut spared = protected.clone();
    let mut order: Vec<ResourceNumber> = protected.iter().copied().collect();
    order.sort_unstable();
    for number in order {
        keep_what_it_needs(number, condemned, &mut spared);
    }
    let is_counted = |number: &ResourceNumber| {
        condemned.get(number).is_some_and(|resource| {
            !resource.urn.is_root_stack() && resource.urn.provider_package().is_none() && !resource.delete
        })
    };
    let needed = spared.iter().filter(|number| !protected.contains(*number) && is_counted(number)).count();
    condemned.retain(|number, _| !spared.contains(number));
    SparedResources { protected: protected.len(), needed }
}
