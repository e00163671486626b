//! What imports ask of the live objects: which of them serve a type, a place or another resource.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::provider::{ObjectId, ProviderError, ProviderReference};
use crate::resource_state::ResourceState;
use crate::urn::Urn;

use super::Providers;
use crate::driver::calls::resolved_provider::{ProviderKind, ResolvedProvider};
use crate::driver::outside_calls::FindNamed;

impl Providers {
    /// The objects that the program registered for resources of a type, each with one of those resources.
    pub(crate) fn live_of_type(&self, kind: &str) -> Vec<(Urn, ObjectId)> {
        let known = self.known();
        let mut found: Vec<_> = known.by_urn.iter().filter(|(urn, _)| urn.own_type() == kind).collect();
        found.sort_unstable();
        found.dedup_by_key(|(_, object)| **object);
        found.into_iter().map(|(urn, object)| (urn.clone(), *object)).collect()
    }

    /// The types of the program's resources whose objects have such a reference.
    pub(crate) fn types_served(&self, is_meant: impl Fn(&ProviderReference) -> bool) -> BTreeSet<String> {
        let known = self.known();
        let of_object = |object| known.described.get(object).is_some_and(|it| is_meant(&it.reference));
        let meant = known.by_urn.iter().filter(|(_, object)| of_object(*object));
        meant.map(|(urn, _)| urn.own_type().to_owned()).collect()
    }

    /// The object that the user named by its place; made if there is only a class.
    pub(crate) async fn named(
        &self,
        reference: &Arc<ProviderReference>,
    ) -> Result<Option<ResolvedProvider>, ProviderError> {
        let known = self.known().by_reference.get(reference).copied();
        let object = match known {
            Some(object) => object,
            None => match self.exchange.ask(FindNamed(Arc::clone(reference))).await? {
                Some(object) => object,
                None => return Ok(None),
            },
        };
        // Noted under what was named, so that there is one object of it in the run.
        self.known().by_reference.insert(Arc::clone(reference), object);
        let description = self.describe(object).await?;
        Ok(Some(self.resolved(object, &description, self.configurations.of_stack())))
    }

    /// Is a resource served as another one is that `resolved` serves: by the same object, or by one of an equal reference?
    /// Objects that both are there and cannot be told by their references are two.
    pub(crate) fn is_served_alike(&self, resource: &ResourceState, resolved: &ResolvedProvider) -> bool {
        let ProviderKind::Live { object, reference, configuration } = &resolved.server else {
            return resolved.is_built_in();
        };
        let theirs = self.configurations.of(&resource.provider, &self.plugins);
        if theirs.is_ok_and(|theirs| theirs.number != configuration.number) {
            // Of another account, perhaps: equal ids are of two objects.
            return false;
        }
        let live = {
            let known = self.known();
            let live = known.by_urn.get(&resource.urn);
            live.map(|live| (*live, known.described.get(live).map(|it| Arc::clone(&it.reference))))
        };
        let is_equal = |theirs: &ProviderReference| theirs.identity() == reference.identity();
        match live {
            Some((theirs, _)) if theirs == *object => true,
            Some((_, theirs)) => reference.is_complete() && theirs.is_some_and(|theirs| is_equal(&theirs)),
            None => self.stored_reference(resource).is_ok_and(|theirs| is_equal(&theirs)),
        }
    }
}
