//! Objects with the signature key, as provider methods return them.
//!
//! Such an object is no object but a special value; a state that holds one of no known kind cannot be read. So none is
//! kept as it came: it becomes the value that it stands for, or is refused.

use super::{
    ARCHIVE_SIGNATURE, ASSET_SIGNATURE, Archive, ArchiveSource, Asset, AssetSource, BYTES_SIGNATURE, FLOAT_SIGNATURE,
    PropertyMap, SECRET_SIGNATURE, SIGNATURE_KEY, Value,
};

/// The value that an object with the signature key stands for in a provider's result; an object without the key stands
/// for itself. The error goes on after the name of the place.
pub fn from_marked(mut members: PropertyMap) -> Result<Value, String> {
    let signature = match members.remove(SIGNATURE_KEY) {
        None => return Ok(Value::Object(members)),
        Some(Value::String(signature)) => signature,
        Some(_) => return Err(no_signature()),
    };
    let mut text = |key: &str| match members.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    match signature.as_str() {
        SECRET_SIGNATURE => members
            .remove("value")
            .map(Value::secret)
            .ok_or_else(|| "is marked as a secret, but has no \"value\"".to_owned()),
        FLOAT_SIGNATURE => text("value")
            .filter(|hex| hex.len() == 16 && hex.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|hex| u64::from_str_radix(&hex, 16).ok())
            .map(|bits| Value::Number(f64::from_bits(bits)))
            .ok_or_else(|| {
                "is marked as a number that JSON cannot hold, but its \"value\" is not 16 hex digits".into()
            }),
        ASSET_SIGNATURE => {
            let hash = text("hash").unwrap_or_default();
            let source = text("text")
                .map(AssetSource::Text)
                .or_else(|| text("path").map(AssetSource::Path))
                .or_else(|| text("uri").map(AssetSource::Uri))
                .unwrap_or(AssetSource::Elided);
            Ok(Asset { hash, source }.into())
        }
        ARCHIVE_SIGNATURE => {
            let hash = text("hash").unwrap_or_default();
            let source = text("path").map(ArchiveSource::Path).or_else(|| text("uri").map(ArchiveSource::Uri));
            let source = match (source, members.remove("assets")) {
                (Some(source), _) => source,
                (None, Some(Value::Object(assets))) => ArchiveSource::Assets(assets),
                (None, _) => ArchiveSource::Elided,
            };
            Ok(Archive { hash, source }.into())
        }
        // A program's SDK could not be told of them.
        BYTES_SIGNATURE => Err("is marked as bytes, which a program cannot be given: return them as base64".to_owned()),
        // References to resources and outputs are what programs send; a result has no use for them.
        _ => Err(no_signature()),
    }
}

/// Refuses properties that would be taken for a special value. The error goes on after their name.
pub fn refuse_marked(properties: &PropertyMap) -> Result<(), String> {
    if properties.contains_key(SIGNATURE_KEY) {
        return Err(format!("has the key \"{SIGNATURE_KEY}\", which only special values have"));
    }
    Ok(())
}

/// Is there an object with the signature key, in the properties or as such? Only what is none of the values of this
/// module can hold one, and it could not be read back from a state.
#[must_use]
pub fn any_marked(properties: &PropertyMap) -> bool {
    let marked = |value: &Value| match value {
        Value::Object(members) => members.contains_key(SIGNATURE_KEY),
        Value::Archive(archive) => archive.members().is_some_and(|members| members.contains_key(SIGNATURE_KEY)),
        _ => false,
    };
    properties.contains_key(SIGNATURE_KEY) || properties.values().any(|value| value.any(&marked))
}

fn no_signature() -> String {
    format!("has the key \"{SIGNATURE_KEY}\" with a value that is no signature of Pulumi's")
}

#[cfg(test)]
#[path = "marked_tests.rs"]
mod tests;
