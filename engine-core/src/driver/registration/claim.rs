//! One object, one resource: an object that two resources had would be deleted with either of them (docs/rules 7.2, 7.3).

use std::sync::Arc;

use crate::plan::{RegistrationError, for_provider};
use crate::resource_state::ResourceState;
use crate::urn::Urn;
use crate::value::PropertyMap;

use crate::driver::calls::providers::Providers;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::doors::Doors;
use crate::driver::journal::Journal;

/// Which resource manages an object.
pub(crate) struct Claims {
    providers: Arc<Providers>,
    journal: Arc<Journal>,
}

impl Claims {
    pub(crate) fn new(doors: &Doors) -> Self {
        Self { providers: Arc::clone(&doors.providers), journal: Arc::clone(&doors.journal) }
    }

    /// Notes that an object is about to become that of a resource; refused where another resource has it. `formerly` is the
    /// URN that the resource had before.
    pub(crate) fn claim(
        &self,
        resource: ResourceState,
        formerly: Option<&Urn>,
        resolved: &ResolvedProvider,
    ) -> Result<(), RegistrationError> {
        self.claim_unless(resource, formerly, resolved, |_| false)
    }

    /// The same of an object that was asked for by another id than it has. Some providers give all objects of a type one id (the
    /// `none` of passwords), so another resource has this object only where that looks the same.
    pub(crate) fn claim_read(
        &self,
        resource: ResourceState,
        formerly: Option<&Urn>,
        resolved: &ResolvedProvider,
        outputs: &PropertyMap,
    ) -> Result<(), RegistrationError> {
        let read = for_provider(outputs);
        let resource = ResourceState { outputs: Some(Arc::new(outputs.clone())), ..resource };
        let shown = |holder: &ResourceState| holder.outputs.as_deref().map(for_provider);
        self.claim_unless(resource, formerly, resolved, |holder| shown(holder).as_ref() != Some(&read))
    }

    fn claim_unless(
        &self,
        resource: ResourceState,
        formerly: Option<&Urn>,
        resolved: &ResolvedProvider,
        has_another: impl Fn(&ResourceState) -> bool,
    ) -> Result<(), RegistrationError> {
        let known = self.journal.holders_of(&resource.id);
        let is_itself =
            |other: &ResourceState| (other.urn == resource.urn || Some(&other.urn) == formerly) && !other.delete;
        let holder = known.iter().find(|other| {
            other.kind == resource.kind
                && !is_itself(other)
                && !has_another(other)
                && self.is_served_alike(other, &resource, resolved)
        });
        if let Some(holder) = holder {
            return Err(RegistrationError::object_taken(&resource.urn, holder));
        }
        self.journal.note_holder(&Arc::new(resource));
        Ok(())
    }

    /// Are both served by one provider? Objects of two may have one id: in two regions, for example.
    fn is_served_alike(&self, other: &ResourceState, resource: &ResourceState, resolved: &ResolvedProvider) -> bool {
        let theirs = other.provider_parts().map(|(urn, _)| urn);
        let ours = resource.provider_parts().map(|(urn, _)| urn);
        // Another version of a package has another default provider.
        let is_default = |urn: &Option<Urn>| urn.as_ref().is_some_and(Urn::is_default_provider);
        let is_equal = theirs == ours || (is_default(&theirs) && is_default(&ours));
        is_equal && (resolved.is_plugin() || self.providers.is_served_alike(other, resolved))
    }
}
