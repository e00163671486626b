//! The JSON of rows and values, as Pulumi writes it (semantics 10.2).
//!
//! Rows are written straight into bytes and read straight from them: a state of 100,000 rows passes through here at
//! every operation.

mod decode_row;
mod decode_value;
mod encode_row;
mod encode_value;
mod json;
mod suspects;

pub(super) use decode_row::StateRow;
pub(super) use decode_value::{StateValue, secret_from_json};
pub(super) use encode_value::{Encoder, SecretText};
pub(super) use json::{indent, write_json, write_string};
pub(super) use suspects::StateSuspect;

/// How deep values may be nested. Beyond it a file that we write could not be read again: its readers count the
/// objects around the value as well, up to 128.
pub const MAX_DEPTH: usize = 100;

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
