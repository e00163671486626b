//! Wire values as functions of the program take them: what is secret, unknown or computed from resources travels as an
//! output value, of which the SDKs make an `Output` (docs/rules 13.1).

use std::collections::BTreeMap;

use crate::urn::Urn;
use crate::value::{
    BYTES_SIGNATURE, OUTPUT_SIGNATURE, OutputValue, PropertyMap, SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXTS, Value,
};

use super::{Accepts, Kind, ListValue, Struct, WireValue, encode_value};

/// Makes plain values of output values; collects what they depend on.
pub fn lower(value: &mut Value, found: &mut Vec<Urn>) {
    match value {
        Value::Output(output) => {
            let OutputValue { value: inner, secret, dependencies } = (**output).clone();
            found.extend(dependencies);
            let mut plain = inner.unwrap_or(Value::Unknown);
            lower(&mut plain, found);
            *value = if secret { Value::secret(plain) } else { plain };
        }
        Value::Array(items) => items.iter_mut().for_each(|item| lower(item, found)),
        Value::Object(members) => members.values_mut().for_each(|member| lower(member, found)),
        Value::Secret(inner) => lower(inner, found),
        Value::Archive(archive) => {
            for member in archive.members_mut().into_iter().flat_map(PropertyMap::values_mut) {
                lower(member, found);
            }
        }
        _ => {}
    }
}

/// Properties with output values kept, and one for whatever is secret, unknown or has dependencies: for those who make
/// components. `dependencies` gives what a property as a whole was computed from.
#[must_use]
pub fn encode_outputs<'a>(properties: &PropertyMap, dependencies: impl Fn(&str) -> &'a [String]) -> Struct {
    let fields = properties.iter().map(|(key, value)| {
        let (encoded, urns) = (encode_output(value), dependencies(key));
        (key.clone(), if urns.is_empty() { encoded } else { with_dependencies(encoded, urns) })
    });
    Struct { fields: fields.collect() }
}

fn encode_output(value: &Value) -> WireValue {
    let kind = match value {
        Value::Unknown | Value::Sealed(_) => return output(None, false, &[]),
        Value::Secret(inner) => return secret(encode_output(inner)),
        Value::Output(known) => {
            let encoded = known.value.as_ref().map_or_else(|| output(None, false, &[]), encode_output);
            let encoded = if known.secret { secret(encoded) } else { encoded };
            let urns: Vec<String> = known.dependencies.iter().map(Urn::to_string).collect();
            return if urns.is_empty() { encoded } else { with_dependencies(encoded, &urns) };
        }
        Value::Array(items) => Kind::List(ListValue { values: items.iter().map(encode_output).collect() }),
        Value::Object(members) => Kind::Struct(encode_outputs(members, |_| &[])),
        plain => return encode_value(plain, Accepts { secrets: true, resources: true }),
    };
    WireValue { kind: Some(kind) }
}

/// Are there bytes that are no UTF-8 among properties on the wire?
pub(crate) fn wire_bytes_in(properties: &Struct) -> bool {
    properties.fields.values().any(is_or_holds_bytes)
}

fn is_or_holds_bytes(value: &WireValue) -> bool {
    match &value.kind {
        Some(Kind::Struct(object)) => signature(object) == Some(BYTES_SIGNATURE) || wire_bytes_in(object),
        Some(Kind::List(list)) => list.values.iter().any(is_or_holds_bytes),
        _ => false,
    }
}

/// The properties with an output value for each one that has dependencies, and for whatever is secret or unknown at
/// any depth. `dependencies` gives the URNs that a property was computed from.
#[must_use]
pub fn as_outputs<'a>(properties: &Struct, dependencies: impl Fn(&str) -> &'a [String]) -> Struct {
    let fields = properties.fields.iter().map(|(key, value)| {
        let upgraded = upgrade(value);
        let urns = dependencies(key);
        (key.clone(), if urns.is_empty() { upgraded } else { with_dependencies(upgraded, urns) })
    });
    Struct { fields: fields.collect() }
}

fn upgrade(value: &WireValue) -> WireValue {
    let kind = match &value.kind {
        Some(Kind::String(text)) if UNKNOWN_TEXTS.contains(&text.as_str()) => return output(None, false, &[]),
        Some(Kind::List(list)) => Kind::List(ListValue { values: list.values.iter().map(upgrade).collect() }),
        Some(Kind::Struct(object)) => match signature(object) {
            None => {
                Kind::Struct(Struct { fields: object.fields.iter().map(|(k, v)| (k.clone(), upgrade(v))).collect() })
            }
            Some(SECRET_SIGNATURE) => {
                let inner = object.fields.get("value").map(upgrade).unwrap_or_default();
                return secret(inner);
            }
            Some(_) => return value.clone(),
        },
        _ => return value.clone(),
    };
    WireValue { kind: Some(kind) }
}

fn signature(object: &Struct) -> Option<&str> {
    match object.fields.get(SIGNATURE_KEY) {
        Some(WireValue { kind: Some(Kind::String(signature)) }) => Some(signature),
        _ => None,
    }
}

/// The members of an output value.
fn output_members(value: &mut WireValue) -> Option<&mut BTreeMap<String, WireValue>> {
    match &mut value.kind {
        Some(Kind::Struct(object)) if signature(object) == Some(OUTPUT_SIGNATURE) => Some(&mut object.fields),
        _ => None,
    }
}

/// A secret of an output is that output, as a secret.
fn secret(mut inner: WireValue) -> WireValue {
    match output_members(&mut inner) {
        Some(members) => {
            members.insert("secret".to_owned(), WireValue { kind: Some(Kind::Bool(true)) });
            inner
        }
        None => output(Some(inner), true, &[]),
    }
}

fn with_dependencies(mut value: WireValue, urns: &[String]) -> WireValue {
    let Some(members) = output_members(&mut value) else { return output(Some(value), false, urns) };
    let list = members.entry("dependencies".to_owned()).or_insert_with(|| texts(&[]));
    if let Some(Kind::List(list)) = &mut list.kind {
        for urn in urns {
            let item = text(urn);
            if !list.values.contains(&item) {
                list.values.push(item);
            }
        }
    }
    value
}

fn text(text: &str) -> WireValue {
    WireValue { kind: Some(Kind::String(text.to_owned())) }
}

fn texts(items: &[String]) -> WireValue {
    WireValue { kind: Some(Kind::List(ListValue { values: items.iter().map(|item| text(item)).collect() })) }
}

fn output(value: Option<WireValue>, secret: bool, urns: &[String]) -> WireValue {
    let mut fields = BTreeMap::from([(SIGNATURE_KEY.to_owned(), text(OUTPUT_SIGNATURE))]);
    if let Some(value) = value {
        fields.insert("value".to_owned(), value);
    }
    if secret {
        fields.insert("secret".to_owned(), WireValue { kind: Some(Kind::Bool(true)) });
    }
    if !urns.is_empty() {
        fields.insert("dependencies".to_owned(), texts(urns));
    }
    WireValue { kind: Some(Kind::Struct(Struct { fields })) }
}
