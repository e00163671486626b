//! What users see of values: properties as JSON, numbers of things in words.

use maloko_core::value::{ArchiveSource, AssetSource, shown_bytes};
use maloko_core::{PropertyMap, Value};

/// What stands in place of a secret.
pub(crate) const HIDDEN: &str = "[secret]";
/// What stands in place of a value that is not known yet.
const UNKNOWN: &str = "[unknown]";

/// "1 resource", "2 resources".
pub(crate) fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A time as people read it; what is no time is shown as it is.
pub(crate) fn readable_time(time: &str) -> String {
    match time.parse::<jiff::Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => time.to_owned(),
    }
}

/// The value as JSON; secrets are hidden unless `show_secrets`. A secret that is still sealed stays hidden.
#[must_use]
pub(crate) fn to_json(value: &Value, show_secrets: bool) -> serde_json::Value {
    let text = |text: &str| serde_json::Value::String(text.to_owned());
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => number_to_json(*number),
        Value::String(content) => text(content),
        Value::Bytes(bytes) => text(&shown_bytes(bytes)),
        Value::Array(items) => items.iter().map(|item| to_json(item, show_secrets)).collect(),
        Value::Object(members) => object_to_json(members, show_secrets),
        Value::Secret(inner) if show_secrets => to_json(inner, true),
        Value::Secret(_) | Value::Sealed(_) => text(HIDDEN),
        Value::Unknown => text(UNKNOWN),
        Value::Output(output) => match &output.value {
            _ if output.secret && !show_secrets => text(HIDDEN),
            Some(inner) => to_json(inner, show_secrets),
            None => text(UNKNOWN),
        },
        Value::Resource(reference) => match reference.id.as_deref() {
            Some(id) if !id.is_empty() => text(id),
            _ => text(reference.urn.as_str()),
        },
        Value::Asset(asset) => match &asset.source {
            AssetSource::Text(content) => serde_json::json!({ "text": content }),
            AssetSource::Path(path) => serde_json::json!({ "path": path }),
            AssetSource::Uri(uri) => serde_json::json!({ "uri": uri }),
            AssetSource::Elided => serde_json::json!({ "hash": asset.hash }),
        },
        Value::Archive(archive) => match &archive.source {
            ArchiveSource::Assets(assets) => serde_json::json!({ "assets": object_to_json(assets, show_secrets) }),
            ArchiveSource::Path(path) => serde_json::json!({ "path": path }),
            ArchiveSource::Uri(uri) => serde_json::json!({ "uri": uri }),
            ArchiveSource::Elided => serde_json::json!({ "hash": archive.hash }),
        },
    }
}

/// Properties as a JSON object.
#[must_use]
pub(crate) fn object_to_json(members: &PropertyMap, show_secrets: bool) -> serde_json::Value {
    members.iter().map(|(key, value)| (key.clone(), to_json(value, show_secrets))).collect()
}

/// A text as it is, anything else as JSON: for people and for shell scripts.
#[must_use]
pub(crate) fn to_text(value: &Value, show_secrets: bool) -> String {
    match to_json(value, show_secrets) {
        serde_json::Value::String(text) => text,
        serde_json::Value::Number(number) => {
            number.as_f64().filter(|_| number.is_f64()).and_then(whole_digits).unwrap_or_else(|| number.to_string())
        }
        other => other.to_string(),
    }
}

/// All digits of a whole number; `None` for other numbers, and for those that are measured and not counted.
#[must_use]
pub(crate) fn whole_digits(number: f64) -> Option<String> {
    const FIRST_MEASURE: f64 = 1e21;
    // Zero has no sign where people read it.
    (number.fract() == 0.0 && number.abs() < FIRST_MEASURE).then(|| format!("{:.0}", number + 0.0))
}

/// Whole numbers without a fraction, as they were written; what JSON cannot hold as a text.
#[must_use]
pub(crate) fn number_to_json(number: f64) -> serde_json::Value {
    if let Some(digits) = whole_digits(number) {
        if let Ok(whole) = digits.parse::<i64>() {
            return whole.into();
        }
        if let Ok(whole) = digits.parse::<u64>() {
            return whole.into();
        }
    }
    serde_json::Number::from_f64(number).map_or_else(|| number.to_string().into(), serde_json::Value::Number)
}
