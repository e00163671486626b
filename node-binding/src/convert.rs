//! Property values as JSON text for JavaScript, and back.
//!
//! Providers in JavaScript see what the official dynamic provider server shows them: unknown values as their
//! sentinel text, assets and archives as objects with the signature key, references to resources as ids. Numbers
//! that JSON cannot hold travel as objects with a signature of their own.

use std::collections::BTreeMap;
use std::fmt;

use maloko_core::value::{
    ARCHIVE_SIGNATURE, ASSET_SIGNATURE, ArchiveSource, AssetSource, FLOAT_SIGNATURE, NO_BYTES_FOR_PROVIDERS,
    PropertyMap, SIGNATURE_KEY, UNKNOWN_TEXT, UNKNOWN_TEXTS, Value, from_marked, refuse_marked,
};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};

/// Properties on their way to JavaScript.
#[derive(Clone, Copy)]
pub(crate) struct Outgoing<'a> {
    properties: &'a PropertyMap,
    /// Are assets shown by their hashes alone?
    hashes: bool,
}

impl<'a> Outgoing<'a> {
    /// With the content of assets.
    pub(crate) fn whole(properties: &'a PropertyMap) -> Self {
        Self { properties, hashes: false }
    }

    /// With the hashes of assets alone.
    pub(crate) fn hashes(properties: &'a PropertyMap) -> Self {
        Self { properties, hashes: true }
    }
}

impl Serialize for Outgoing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hashes = self.hashes;
        serializer.collect_map(self.properties.iter().map(|(key, value)| (key, OutgoingValue { value, hashes })))
    }
}

struct OutgoingValue<'a> {
    value: &'a Value,
    hashes: bool,
}

impl Serialize for OutgoingValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hashes = self.hashes;
        match self.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Number(number) if number.is_finite() => serializer.serialize_f64(*number),
            Value::Number(number) => {
                special(serializer, FLOAT_SIGNATURE, |map| map.serialize_entry("value", float_name(*number)))
            }
            Value::String(text) => serializer.serialize_str(text),
            Value::Bytes(_) => Err(serde::ser::Error::custom(NO_BYTES_FOR_PROVIDERS)),
            Value::Array(items) => serializer.collect_seq(items.iter().map(|value| OutgoingValue { value, hashes })),
            Value::Object(members) => Outgoing { properties: members, hashes }.serialize(serializer),
            Value::Secret(inner) => OutgoingValue { value: inner, hashes }.serialize(serializer),
            Value::Unknown | Value::Sealed(_) => serializer.serialize_str(UNKNOWN_TEXT),
            Value::Output(output) => match &output.value {
                Some(value) => OutgoingValue { value, hashes }.serialize(serializer),
                None => serializer.serialize_str(UNKNOWN_TEXT),
            },
            Value::Resource(reference) => serializer.serialize_str(match reference.id.as_deref() {
                None => reference.urn.as_str(),
                Some("") => UNKNOWN_TEXT,
                Some(id) => id,
            }),
            Value::Asset(asset) => special(serializer, ASSET_SIGNATURE, |map| {
                map.serialize_entry("hash", &asset.hash)?;
                match &asset.source {
                    _ if hashes => Ok(()),
                    AssetSource::Text(text) => map.serialize_entry("text", text),
                    AssetSource::Path(path) => map.serialize_entry("path", path),
                    AssetSource::Uri(uri) => map.serialize_entry("uri", uri),
                    AssetSource::Elided => Ok(()),
                }
            }),
            Value::Archive(archive) => special(serializer, ARCHIVE_SIGNATURE, |map| {
                map.serialize_entry("hash", &archive.hash)?;
                match &archive.source {
                    _ if hashes => Ok(()),
                    ArchiveSource::Assets(assets) => map.serialize_entry("assets", &Outgoing::whole(assets)),
                    ArchiveSource::Path(path) => map.serialize_entry("path", path),
                    ArchiveSource::Uri(uri) => map.serialize_entry("uri", uri),
                    ArchiveSource::Elided => Ok(()),
                }
            }),
        }
    }
}

/// An object with a signature and further members.
fn special<S: Serializer>(
    serializer: S,
    signature: &str,
    members: impl FnOnce(&mut S::SerializeMap) -> Result<(), S::Error>,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    map.serialize_entry(SIGNATURE_KEY, signature)?;
    members(&mut map)?;
    map.end()
}

fn float_name(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    }
}

/// Properties that came from JavaScript.
#[derive(Debug, Default)]
pub(crate) struct Properties(pub(crate) PropertyMap);

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = BTreeMap::<String, Incoming>::deserialize(deserializer)?;
        let properties = members.into_iter().map(|(key, value)| (key, value.0)).collect();
        refuse_marked(&properties).map_err(|reason| serde::de::Error::custom(format!("a result {reason}")))?;
        Ok(Self(properties))
    }
}

struct Incoming(Value);

impl<'de> Deserialize<'de> for Incoming {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor).map(Incoming)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a property value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript's numbers are doubles")]
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "JavaScript's numbers are doubles")]
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(if UNKNOWN_TEXTS.contains(&text) { Value::Unknown } else { Value::String(text.to_owned()) })
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(if UNKNOWN_TEXTS.contains(&text.as_str()) { Value::Unknown } else { Value::String(text) })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::with_capacity(items.size_hint().unwrap_or(0));
        while let Some(item) = items.next_element::<Incoming>()? {
            list.push(item.0);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut members = Vec::with_capacity(entries.size_hint().unwrap_or(0));
        while let Some((key, value)) = entries.next_entry::<String, Incoming>()? {
            members.push((key, value.0));
        }
        signed(PropertyMap::from_iter(members)).map_err(serde::de::Error::custom)
    }
}

/// Reads an object with a signature. Numbers that JSON cannot hold go by the names that JavaScript has for them.
fn signed(members: PropertyMap) -> Result<Value, String> {
    let text = |key: &str| members.get(key).and_then(Value::as_str);
    let named = match (text(SIGNATURE_KEY), text("value")) {
        (Some(FLOAT_SIGNATURE), Some("-0")) => -0.0,
        (Some(FLOAT_SIGNATURE), Some("Infinity")) => f64::INFINITY,
        (Some(FLOAT_SIGNATURE), Some("-Infinity")) => f64::NEG_INFINITY,
        (Some(FLOAT_SIGNATURE), Some("NaN")) => f64::NAN,
        _ => return from_marked(members).map_err(|reason| format!("an object {reason}")),
    };
    Ok(Value::Number(named))
}

#[cfg(test)]
mod tests;
