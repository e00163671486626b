//! Values from JSON.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::urn::Urn;
use crate::value::{
    ARCHIVE_SIGNATURE, ASSET_SIGNATURE, Archive, ArchiveSource, Asset, AssetSource, BYTES_SIGNATURE, FLOAT_SIGNATURE,
    PropertyMap, RESOURCE_SIGNATURE, ResourceReference, SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXT, Value,
};

/// A value as it stands in a state.
pub(crate) struct StateValue(pub(crate) Value);

impl<'de> Deserialize<'de> for StateValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor).map(StateValue)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a property value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of a state are doubles")]
    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    #[expect(clippy::cast_precision_loss, reason = "numbers of a state are doubles")]
    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Number(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(if text == UNKNOWN_TEXT { Value::Unknown } else { Value::String(text.to_owned()) })
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(StateValue(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = PropertyMap::new();
        let mut special = false;
        while let Some(key) = map.next_key::<String>()? {
            special |= key == SIGNATURE_KEY;
            members.insert(key, map.next_value::<StateValue>()?.0);
        }
        if special { special_value(members).map_err(de::Error::custom) } else { Ok(Value::Object(members)) }
    }
}

fn special_value(mut members: PropertyMap) -> Result<Value, String> {
    let signature = match members.get(SIGNATURE_KEY) {
        Some(Value::String(text)) => text.clone(),
        _ => return Err("the signature of a special value is not a text".into()),
    };
    match signature.as_str() {
        SECRET_SIGNATURE => secret(&mut members),
        RESOURCE_SIGNATURE => Ok(Value::from(ResourceReference {
            urn: Urn::unchecked(&text(&mut members, "urn").ok_or("a reference to a resource lacks its 'urn'")?),
            id: text(&mut members, "id"),
            package_version: text(&mut members, "packageVersion").unwrap_or_default(),
        })),
        ASSET_SIGNATURE => {
            let source = if let Some(content) = text(&mut members, "text") {
                AssetSource::Text(content)
            } else if let Some(path) = text(&mut members, "path") {
                AssetSource::Path(path)
            } else {
                text(&mut members, "uri").map_or(AssetSource::Elided, AssetSource::Uri)
            };
            Ok(Value::from(Asset { hash: text(&mut members, "hash").unwrap_or_default(), source }))
        }
        ARCHIVE_SIGNATURE => {
            let source = match members.remove("assets") {
                Some(Value::Object(assets)) => ArchiveSource::Assets(assets),
                Some(_) => return Err("the 'assets' of an archive are not an object".into()),
                None => match text(&mut members, "path") {
                    Some(path) => ArchiveSource::Path(path),
                    None => text(&mut members, "uri").map_or(ArchiveSource::Elided, ArchiveSource::Uri),
                },
            };
            Ok(Value::from(Archive { hash: text(&mut members, "hash").unwrap_or_default(), source }))
        }
        BYTES_SIGNATURE => {
            let base64 = text(&mut members, "value").ok_or("bytes lack their 'value' in base64")?;
            Value::from_base64(&base64)
        }
        FLOAT_SIGNATURE => {
            let bits = text(&mut members, "value").and_then(|hex| u64::from_str_radix(&hex, 16).ok());
            bits.map(|bits| Value::Number(f64::from_bits(bits)))
                .ok_or_else(|| "a number that JSON cannot hold is not given as 16 hex digits".into())
        }
        other => Err(format!(
            "a special value has the signature '{other}', which this version of maloko does not know; use a newer one"
        )),
    }
}

fn secret(members: &mut PropertyMap) -> Result<Value, String> {
    if let Some(ciphertext) = text(members, "ciphertext").filter(|text| !text.is_empty()) {
        return Ok(Value::Sealed(ciphertext.into()));
    }
    let json = text(members, "plaintext").ok_or("a secret has neither a 'ciphertext' nor a 'plaintext'")?;
    secret_from_json(&json).map_err(|error| format!("the 'plaintext' of a secret is not the JSON of a value: {error}"))
}

/// The secret whose decrypted text is `json`.
pub(crate) fn secret_from_json(json: &str) -> Result<Value, String> {
    // The text itself must not be repeated in the error.
    let StateValue(value) = serde_json::from_str(json)
        .map_err(|error: serde_json::Error| format!("line {} column {}", error.line(), error.column()))?;
    Ok(Value::secret(value))
}

fn text(members: &mut PropertyMap, key: &str) -> Option<String> {
    match members.remove(key) {
        Some(Value::String(text)) => Some(text),
        // The sentinel of unknown values is an ordinary text in here.
        Some(Value::Unknown) => Some(UNKNOWN_TEXT.to_owned()),
        _ => None,
    }
}
