//! What stands in for the plugins of packages in a test: each resource keeps its inputs as outputs, and what the test says
//! itself counts for more.

mod components;
mod host;
#[cfg(test)]
mod host_tests;
mod language;
mod misspelt;
#[cfg(test)]
mod misspelt_tests;
mod objects;
mod schemas;
#[cfg(test)]
mod schemas_tests;
mod typed;

use std::collections::BTreeSet;

use maloko_core::provider::ObjectId;
use serde::Deserialize;

pub(crate) use host::Stubs;
pub(crate) use language::{lowered, remarked};
pub(crate) use objects::StubbedObjects;
pub(crate) use schemas::Schemas;
pub use schemas::problems_of_examples;

/// What a test says of a resource type or a function.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stub {
    /// The test's object, by its number in this run.
    pub object: ObjectId,
    /// The methods that it has; the others are as without it.
    pub methods: BTreeSet<String>,
}

/// The id that a test's `create` returns where it leaves the id to the stub.
pub const COMPUTED_ID: &str = "maloko:computed-id";
