//! What the resources of a state refer to.

use crate::resource_state::ResourceState;
use crate::urn::Urn;

/// Everything that a resource refers to by URN alone, and how.
pub(super) fn references(resource: &ResourceState) -> impl Iterator<Item = (&'static str, &Urn)> {
    let parent = resource.parent.iter().map(|urn| ("parent", urn));
    let dependencies = resource.dependencies.iter().map(|urn| ("dependency", urn));
    let of_properties = resource.property_dependencies.values().flatten().map(|urn| ("property dependency", urn));
    let deleted_with = resource.deleted_with.iter().map(|urn| ("deletedWith", urn));
    let replace_with = resource.replace_with.iter().map(|urn| ("replaceWith", urn));
    parent.chain(dependencies).chain(of_properties).chain(deleted_with).chain(replace_with)
}
