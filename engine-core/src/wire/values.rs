//! Property values to and from `google.protobuf.Struct` (docs/rules 9.3, 9.4).

use crate::urn::Urn;
use crate::value::{
    ARCHIVE_SIGNATURE, ASSET_SIGNATURE, Archive, ArchiveSource, Asset, AssetSource, BYTES_SIGNATURE, OUTPUT_SIGNATURE,
    OutputValue, PropertyMap, RESOURCE_SIGNATURE, ResourceReference, SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXT,
    UNKNOWN_TEXTS, Value, base64_of, refuse_marked,
};

use super::{Kind, ListValue, NullValue, Struct, WireValue};

/// What a receiver understands; the rest is sent in a plainer form. Bytes have none: who cannot take them is asked for with
/// [`refuse_bytes`](crate::value::refuse_bytes).
#[derive(Clone, Copy, Debug)]
pub struct Accepts {
    /// Secrets; else their plain value is sent.
    pub secrets: bool,
    /// Resource references; else the id (of a component: the URN) is sent.
    pub resources: bool,
}

/// The properties in a struct. The error names the path of what cannot be understood.
pub fn decode_properties(object: Struct) -> Result<PropertyMap, String> {
    let properties = decode_members(object)?;
    refuse_marked(&properties).map_err(|reason| format!("the object of all properties {reason}"))?;
    Ok(properties)
}

fn decode_members(object: Struct) -> Result<PropertyMap, String> {
    object
        .fields
        .into_iter()
        .map(|(key, value)| {
            let decoded = decode_value(value).map_err(|reason| format!("property '{key}': {reason}"))?;
            Ok((key, decoded))
        })
        .collect()
}

/// The value in a wire value.
pub fn decode_value(value: WireValue) -> Result<Value, String> {
    match value.kind {
        None | Some(Kind::Null(_)) => Ok(Value::Null),
        Some(Kind::Bool(b)) => Ok(Value::Bool(b)),
        Some(Kind::Number(n)) => Ok(Value::Number(n)),
        Some(Kind::String(text)) => Ok(if is_unknown_text(&text) { Value::Unknown } else { Value::String(text) }),
        Some(Kind::List(list)) => list.values.into_iter().map(decode_value).collect::<Result<_, _>>().map(Value::Array),
        Some(Kind::Struct(object)) => {
            let signature = match object.fields.get(SIGNATURE_KEY) {
                Some(WireValue { kind: Some(Kind::String(signature)) }) => signature.clone(),
                Some(_) => return Err(format!("the member '{SIGNATURE_KEY}' is not a text")),
                None => return decode_members(object).map(Value::Object),
            };
            decode_special(&signature, decode_members(object)?)
        }
    }
}

/// Unknown markers all have the length of a UUID, so that most texts need no comparison.
fn is_unknown_text(text: &str) -> bool {
    text.len() == UNKNOWN_TEXT.len() && UNKNOWN_TEXTS.contains(&text)
}

fn text_of(members: &mut PropertyMap, key: &str) -> Option<String> {
    match members.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

fn decode_special(signature: &str, mut members: PropertyMap) -> Result<Value, String> {
    match signature {
        SECRET_SIGNATURE => Ok(Value::secret(members.remove("value").unwrap_or(Value::Null))),
        OUTPUT_SIGNATURE => {
            let dependencies = match members.remove("dependencies") {
                Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(Urn::unchecked).collect(),
                _ => Vec::new(),
            };
            let secret = members.remove("secret") == Some(Value::Bool(true));
            Ok(Value::Output(Box::new(OutputValue { value: members.remove("value"), secret, dependencies })))
        }
        RESOURCE_SIGNATURE => {
            let urn = text_of(&mut members, "urn").ok_or("a resource reference without a URN")?;
            let id = match members.remove("id") {
                Some(Value::String(id)) => Some(id),
                Some(Value::Unknown) => Some(String::new()),
                _ => None,
            };
            let package_version = text_of(&mut members, "packageVersion").unwrap_or_default();
            Ok(Value::from(ResourceReference { urn: Urn::unchecked(&urn), id, package_version }))
        }
        ASSET_SIGNATURE => {
            let source = if let Some(text) = text_of(&mut members, "text") {
                AssetSource::Text(text)
            } else if let Some(path) = text_of(&mut members, "path") {
                AssetSource::Path(path)
            } else {
                text_of(&mut members, "uri").map_or(AssetSource::Elided, AssetSource::Uri)
            };
            Ok(Value::from(Asset { hash: text_of(&mut members, "hash").unwrap_or_default(), source }))
        }
        ARCHIVE_SIGNATURE => {
            let source = if let Some(Value::Object(assets)) = members.remove("assets") {
                ArchiveSource::Assets(assets)
            } else if let Some(path) = text_of(&mut members, "path") {
                ArchiveSource::Path(path)
            } else {
                text_of(&mut members, "uri").map_or(ArchiveSource::Elided, ArchiveSource::Uri)
            };
            Ok(Value::from(Archive { hash: text_of(&mut members, "hash").unwrap_or_default(), source }))
        }
        BYTES_SIGNATURE => match members.remove("value") {
            Some(Value::String(base64)) => Value::from_base64(&base64),
            _ => Err("it is marked as bytes, and its member 'value' is no text in base64".to_owned()),
        },
        other => Err(format!("an object with the unknown signature '{other}'")),
    }
}

/// Properties as a struct, in the form that the receiver understands.
#[must_use]
pub fn encode_properties(properties: &PropertyMap, accepts: Accepts) -> Struct {
    Struct { fields: properties.iter().map(|(key, value)| (key.clone(), encode_value(value, accepts))).collect() }
}

/// A value as a wire value, in the form that the receiver understands.
#[must_use]
pub fn encode_value(value: &Value, accepts: Accepts) -> WireValue {
    let kind = match value {
        Value::Null => Kind::Null(NullValue::Null as i32),
        Value::Bool(b) => Kind::Bool(*b),
        Value::Number(n) => Kind::Number(*n),
        Value::String(text) => Kind::String(text.clone()),
        Value::Bytes(bytes) => special(BYTES_SIGNATURE, [("value", text(&base64_of(bytes)))]),
        // A secret that was never decrypted cannot be handed out; it stays unknown.
        Value::Unknown | Value::Sealed(_) => Kind::String(UNKNOWN_TEXT.to_owned()),
        Value::Array(items) => {
            Kind::List(ListValue { values: items.iter().map(|item| encode_value(item, accepts)).collect() })
        }
        Value::Object(members) => Kind::Struct(encode_properties(members, accepts)),
        Value::Secret(inner) if !accepts.secrets => return encode_value(inner, accepts),
        Value::Secret(inner) => special(SECRET_SIGNATURE, [("value", encode_value(inner, accepts))]),
        Value::Output(output) => {
            return match &output.value {
                None => encode_value(&Value::Unknown, accepts),
                Some(inner) if output.secret => encode_value(&Value::secret(inner.clone()), accepts),
                Some(inner) => encode_value(inner, accepts),
            };
        }
        Value::Resource(reference) if !accepts.resources => match &reference.id {
            Some(id) if id.is_empty() => Kind::String(UNKNOWN_TEXT.to_owned()),
            Some(id) => Kind::String(id.clone()),
            None => Kind::String(reference.urn.to_string()),
        },
        Value::Resource(reference) => {
            let mut members = vec![("urn", text(reference.urn.as_str()))];
            if let Some(id) = &reference.id {
                members.push(("id", text(if id.is_empty() { UNKNOWN_TEXT } else { id })));
            }
            if !reference.package_version.is_empty() {
                members.push(("packageVersion", text(&reference.package_version)));
            }
            special(RESOURCE_SIGNATURE, members)
        }
        Value::Asset(asset) => {
            let mut members = vec![("hash", text(&asset.hash))];
            match &asset.source {
                AssetSource::Text(content) => members.push(("text", text(content))),
                AssetSource::Path(path) => members.push(("path", text(path))),
                AssetSource::Uri(uri) => members.push(("uri", text(uri))),
                AssetSource::Elided => {}
            }
            special(ASSET_SIGNATURE, members)
        }
        Value::Archive(archive) => {
            let mut members = vec![("hash", text(&archive.hash))];
            match &archive.source {
                ArchiveSource::Assets(assets) => {
                    let object = Kind::Struct(encode_properties(assets, accepts));
                    members.push(("assets", WireValue { kind: Some(object) }));
                }
                ArchiveSource::Path(path) => members.push(("path", text(path))),
                ArchiveSource::Uri(uri) => members.push(("uri", text(uri))),
                ArchiveSource::Elided => {}
            }
            special(ARCHIVE_SIGNATURE, members)
        }
    };
    WireValue { kind: Some(kind) }
}

fn text(content: &str) -> WireValue {
    WireValue { kind: Some(Kind::String(content.to_owned())) }
}

fn special<'a>(signature: &str, members: impl IntoIterator<Item = (&'a str, WireValue)>) -> Kind {
    let mut fields: std::collections::BTreeMap<_, _> =
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    fields.insert(SIGNATURE_KEY.to_owned(), text(signature));
    Kind::Struct(Struct { fields })
}
