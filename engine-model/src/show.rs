//! Values and calls as one short line each: for comparing and for reading.

use maloko_core::provider::Method;
use maloko_core::{PropertyMap, Value};

/// A value without its secret wrappers, as text; unknowns are `?`.
#[must_use]
pub fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(self::value).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => properties(members),
        Value::Secret(inner) => self::value(inner),
        Value::Unknown => "?".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Properties as `{a: 1, b: x}`.
#[must_use]
pub fn properties(properties: &PropertyMap) -> String {
    let members: Vec<_> = properties.iter().map(|(key, member)| format!("{key}: {}", value(member))).collect();
    format!("{{{}}}", members.join(", "))
}

/// A call with its arguments.
#[must_use]
pub fn call(name: &str, method: &Method) -> String {
    let arguments = match method {
        Method::Configure { .. } | Method::Close => String::new(),
        Method::Check { olds, news } => format!("olds {} news {}", properties(olds), properties(news)),
        Method::Diff { id, olds, news } | Method::Update { id, olds, news, .. } => {
            format!("{id} olds {} news {}", properties(olds), properties(news))
        }
        Method::Create { inputs, .. } | Method::Find { inputs, .. } => properties(inputs),
        Method::Read { id, props, .. } | Method::Delete { id, props, .. } => format!("{id} {}", properties(props)),
    };
    format!("{name}.{} {arguments}", method.name())
}

/// The last part of a URN.
#[must_use]
pub fn name(urn: &str) -> &str {
    urn.splitn(4, "::").nth(3).unwrap_or(urn)
}
