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

/// How deep values may be nested. Beyond it a file that we write could not be read again: its readers count the
/// objects around the value as well, up to 128.
pub const MAX_DEPTH: usize = 100;

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
