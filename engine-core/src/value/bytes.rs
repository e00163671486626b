//! Bytes that are no UTF-8, among properties. Texts hold all others, so that one value has one form.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::{PropertyMap, Value};
use crate::property_path::{PropertyPath, Segment};

/// Why a provider of the program's own language is not called: there the SDKs have no value for bytes.
pub const NO_BYTES_FOR_PROVIDERS: &str =
    "a property has bytes that are no UTF-8 text, which dynamic providers cannot be given; pass them as base64";

/// Bytes in base64, as the wire and the state have them.
#[must_use]
pub fn base64_of(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// Bytes as people see them: as the reference shows them, in diffs and in JSON.
#[must_use]
pub fn shown_bytes(bytes: &[u8]) -> String {
    format!("b\"{}\"", base64_of(bytes))
}

impl Value {
    /// The value that these bytes are: a text, where they are UTF-8.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Value {
        String::from_utf8(bytes).map_or_else(|error| Value::Bytes(error.into_bytes()), Value::String)
    }

    /// Are there bytes that are no UTF-8 anywhere in the value?
    #[must_use]
    pub fn contains_bytes(&self) -> bool {
        holds_bytes(self)
    }

    /// The value whose bytes are written as base64. The error goes on after the name of the place.
    pub fn from_base64(text: &str) -> Result<Value, String> {
        let bytes = BASE64_STANDARD.decode(text);
        bytes.map(Value::from_bytes).map_err(|error| format!("it is marked as bytes, and is no base64 ({error})"))
    }
}

/// Refuses properties with bytes, on behalf of a receiver that knows texts alone: it would take a marker for the value.
/// The error names the first of them, and goes on after the name of the receiver.
pub fn refuse_bytes(properties: &PropertyMap) -> Result<(), String> {
    if !properties.values().any(holds_bytes) {
        return Ok(());
    }
    let mut path = Vec::new();
    for (key, value) in properties {
        path.push(Segment::Key(key.clone()));
        if find(value, &mut path) {
            break;
        }
        path.pop();
    }
    Err(format!(
        "cannot take the value of the property '{}': it has bytes that are no UTF-8 text. Have the provider give them as a text, \
         such as base64",
        PropertyPath(path)
    ))
}

/// Written out, since it is asked before every message: it costs no call of a function for each value.
fn holds_bytes(value: &Value) -> bool {
    match value {
        Value::Bytes(_) => true,
        Value::Array(items) => items.iter().any(holds_bytes),
        Value::Object(members) => members.values().any(holds_bytes),
        Value::Secret(inner) => holds_bytes(inner),
        Value::Output(output) => output.value.as_ref().is_some_and(holds_bytes),
        _ => false,
    }
}

/// Leads the path to the first bytes in a value.
fn find(value: &Value, path: &mut Vec<Segment>) -> bool {
    let mut inside = |segment: Segment, value: &Value| {
        path.push(segment);
        let found = find(value, path);
        if !found {
            path.pop();
        }
        found
    };
    match value {
        Value::Bytes(_) => true,
        Value::Array(items) => items.iter().enumerate().any(|(index, item)| inside(Segment::Index(index), item)),
        Value::Object(members) => members.iter().any(|(key, member)| inside(Segment::Key(key.clone()), member)),
        Value::Secret(inner) => find(inner, path),
        Value::Output(output) => output.value.as_ref().is_some_and(|value| find(value, path)),
        _ => false,
    }
}

#[cfg(test)]
#[path = "bytes_tests.rs"]
mod tests;
