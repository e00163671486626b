//! A destroy that leaves protected resources in place.

use crate::hash::FixedSet;
use crate::plan::Leftovers;
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;

use crate::driver::answers::SparedResources;
use crate::driver::deletion::Deletion;
use crate::driver::deletion::needs::keep_what_it_needs;

impl Deletion {
    /// What stayed because it is protected, where the operation leaves that out.
    pub(crate) fn spared(&self) -> SparedResources {
        *self.spared.borrow()
    }

    /// Takes out of what is to go the protected resources and all that they need, where the operation is to leave them out.
    pub(super) fn spare_protected(&self, condemned: &mut Leftovers) {
        if !self.operation.exclude_protected {
            return;
        }
        let is_protected = |resource: &ResourceState| self.steps.is_protected(resource);
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
        *self.spared.borrow_mut() = SparedResources { protected: protected.len(), needed };
        condemned.retain(|number, _| !spared.contains(number));
    }
}
