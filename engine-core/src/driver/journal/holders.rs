//! Which resources have which objects.

use std::sync::Arc;

use crate::hash::FixedMap;
use crate::resource_state::ResourceState;
use crate::state::Ledger;

/// The resources of a stack by the ids of their objects, those among them whose imports have begun.
pub(crate) struct Holders(FixedMap<String, Vec<Arc<ResourceState>>>);

impl Holders {
    /// Those of a state.
    pub(crate) fn of(ledger: &Ledger) -> Self {
        let mut holders = Self(FixedMap::default());
        ledger.resources().for_each(|(_, resource)| holders.add(resource));
        holders
    }

    /// Notes another one.
    pub(crate) fn add(&mut self, resource: &Arc<ResourceState>) {
        // What is only looked up belongs to somebody else, and what waits for its replacement has no object.
        if resource.custom && !resource.external && !resource.pending_replacement && !resource.id.is_empty() {
            self.0.entry(resource.id.clone()).or_default().push(Arc::clone(resource));
        }
    }

    /// Those whose objects have that id.
    pub(super) fn with_id(&self, id: &str) -> &[Arc<ResourceState>] {
        self.0.get(id).map_or(&[], Vec::as_slice)
    }
}
