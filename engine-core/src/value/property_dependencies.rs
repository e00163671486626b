//! What each property of a resource depends on.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use litemap::LiteMap;
use serde::{Serialize, Serializer};

use crate::urn::Urn;

/// By name of the property, the resources that it was computed from.
///
/// Copies of a resource have it in common until one of them changes it. Its entries lie side by side in memory, as those of a
/// [`PropertyMap`](crate::PropertyMap) do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertyDependencies(Arc<LiteMap<String, Vec<Urn>>>);

impl PropertyDependencies {
    /// The resources of every property, to change them.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Vec<Urn>> {
        self.iter_mut().map(|(_, urns)| urns)
    }
}

impl Deref for PropertyDependencies {
    type Target = LiteMap<String, Vec<Urn>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for PropertyDependencies {
    fn deref_mut(&mut self) -> &mut Self::Target {
        Arc::make_mut(&mut self.0)
    }
}

impl FromIterator<(String, Vec<Urn>)> for PropertyDependencies {
    fn from_iter<I: IntoIterator<Item = (String, Vec<Urn>)>>(entries: I) -> Self {
        Self(Arc::new(entries.into_iter().collect()))
    }
}

impl<const N: usize> From<[(String, Vec<Urn>); N]> for PropertyDependencies {
    fn from(entries: [(String, Vec<Urn>); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl Serialize for PropertyDependencies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(test)]
#[path = "property_dependencies_tests.rs"]
mod tests;
