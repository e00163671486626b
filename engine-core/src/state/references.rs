//! What the rows of a state refer to.

use crate::resource_state::ResourceState;
use crate::urn::Urn;

/// Everything that a row refers to by URN alone, and how.
pub(super) fn references(row: &ResourceState) -> impl Iterator<Item = (&'static str, &Urn)> {
    let parent = row.parent.iter().map(|urn| ("parent", urn));
    let dependencies = row.dependencies.iter().map(|urn| ("dependency", urn));
    let of_properties = row.property_dependencies.values().flatten().map(|urn| ("property dependency", urn));
    let deleted_with = row.deleted_with.iter().map(|urn| ("deletedWith", urn));
    let replace_with = row.replace_with.iter().map(|urn| ("replaceWith", urn));
    parent.chain(dependencies).chain(of_properties).chain(deleted_with).chain(replace_with)
}
