//! Properties whose text is a JSON document, taken apart to be compared.

use maloko_core::value::{PropertyMap, Value};
use serde_json::Value as Json;

/// A text that is an object or a list, as the only member of a map; `None` for every other text.
pub(super) fn members(text: &str) -> Option<PropertyMap> {
    let document = text.trim_start();
    if !document.starts_with(['{', '[']) {
        return None;
    }
    let document: Json = serde_json::from_str(document).ok()?;
    Some(PropertyMap::from_iter([(String::new(), value(document))]))
}

fn value(document: Json) -> Value {
    match document {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(flag),
        Json::Number(number) => {
            // A whole number that has no exact place among ours differs by its digits.
            let exact = number.as_f64().filter(|it| it.abs() < 9_007_199_254_740_992.0);
            exact.map_or_else(|| Value::String(number.to_string()), Value::Number)
        }
        Json::String(text) => Value::String(text),
        Json::Array(items) => Value::Array(items.into_iter().map(value).collect()),
        Json::Object(members) => Value::Object(members.into_iter().map(|(key, item)| (key, value(item))).collect()),
    }
}
