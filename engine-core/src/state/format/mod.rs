//! The JSON of resources and values, as Pulumi writes it (docs/rules 10.2).
//!
//! Resources are written straight into bytes and read straight from them: a state of 100,000 resources passes through
//! here at every operation.

mod decode_resource;
mod decode_value;
mod encode_resource;
mod encode_value;
mod json;
mod unresolved_creates;

pub(crate) use decode_resource::StoredResource;
pub(crate) use decode_value::{StateValue, secret_from_json};
pub(crate) use encode_value::{Encoder, SecretText};
pub(crate) use json::{indent, write_json, write_string};
pub(crate) use unresolved_creates::StoredUnresolvedCreate;

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
