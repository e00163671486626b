//! Property values as JSON, as the bindings' tests see them.
//!
//! What JSON lacks stands as an object with Pulumi's signature key: secrets (whose value is hidden), assets, archives,
//! references and numbers that are none. An unknown value is the text that stands for it on the wire.

use maloko_core::property_path::{PropertyPath, Segment};
use maloko_core::redaction::Redactor;
use maloko_core::value::{
    ARCHIVE_SIGNATURE, ASSET_SIGNATURE, ArchiveSource, AssetSource, BYTES_SIGNATURE, FLOAT_SIGNATURE,
    RESOURCE_SIGNATURE, SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXT, base64_of,
};
use maloko_core::{PropertyMap, Value};
use serde_json::{Map, Number, Value as Json, json};

/// Up to here every whole number has its own double.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// How secrets are written.
#[derive(Clone, Copy)]
pub(crate) enum Secrets<'a> {
    /// Hidden; and what is known to be secret is hidden in all texts.
    Hidden(&'a Redactor),
    /// As they are, without a mark.
    Open,
}

/// Properties.
pub(crate) fn properties(map: &PropertyMap, secrets: Secrets<'_>) -> Json {
    Json::Object(map.iter().map(|(key, item)| (key.clone(), value(item, secrets))).collect())
}

/// One value.
pub(crate) fn value(item: &Value, secrets: Secrets<'_>) -> Json {
    let text = |text: &str| match secrets {
        Secrets::Hidden(redactor) => Json::String(redactor.message(text).into_owned()),
        Secrets::Open => Json::String(text.to_owned()),
    };
    match item {
        Value::Null => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Number(number) => self::number(*number),
        Value::String(string) => text(string),
        Value::Bytes(bytes) => json!({ SIGNATURE_KEY: BYTES_SIGNATURE, "value": text(&base64_of(bytes)) }),
        Value::Array(items) => Json::Array(items.iter().map(|item| value(item, secrets)).collect()),
        Value::Object(members) => properties(members, secrets),
        Value::Secret(inner) => match secrets {
            Secrets::Hidden(_) => json!({ SIGNATURE_KEY: SECRET_SIGNATURE }),
            Secrets::Open => value(inner, secrets),
        },
        Value::Sealed(_) => json!({ SIGNATURE_KEY: SECRET_SIGNATURE }),
        Value::Unknown => Json::String(UNKNOWN_TEXT.to_owned()),
        Value::Output(output) => match &output.value {
            None => Json::String(UNKNOWN_TEXT.to_owned()),
            Some(_) if output.secret && matches!(secrets, Secrets::Hidden(_)) => {
                json!({ SIGNATURE_KEY: SECRET_SIGNATURE })
            }
            Some(inner) => value(inner, secrets),
        },
        Value::Resource(reference) => {
            json!({ SIGNATURE_KEY: RESOURCE_SIGNATURE, "urn": reference.urn.as_str(), "id": reference.id })
        }
        Value::Asset(asset) => match &asset.source {
            AssetSource::Text(content) => json!({ SIGNATURE_KEY: ASSET_SIGNATURE, "text": text(content) }),
            AssetSource::Path(path) => json!({ SIGNATURE_KEY: ASSET_SIGNATURE, "path": path }),
            AssetSource::Uri(uri) => json!({ SIGNATURE_KEY: ASSET_SIGNATURE, "uri": uri }),
            AssetSource::Elided => json!({ SIGNATURE_KEY: ASSET_SIGNATURE, "hash": asset.hash }),
        },
        Value::Archive(archive) => match &archive.source {
            ArchiveSource::Assets(assets) => {
                json!({ SIGNATURE_KEY: ARCHIVE_SIGNATURE, "assets": properties(assets, secrets) })
            }
            ArchiveSource::Path(path) => json!({ SIGNATURE_KEY: ARCHIVE_SIGNATURE, "path": path }),
            ArchiveSource::Uri(uri) => json!({ SIGNATURE_KEY: ARCHIVE_SIGNATURE, "uri": uri }),
            ArchiveSource::Elided => json!({ SIGNATURE_KEY: ARCHIVE_SIGNATURE, "hash": archive.hash }),
        },
    }
}

#[expect(clippy::cast_possible_truncation, reason = "only whole numbers that a double holds exactly get there")]
fn number(number: f64) -> Json {
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return Json::Number(Number::from(number as i64));
    }
    Number::from_f64(number)
        .map_or_else(|| json!({ SIGNATURE_KEY: FLOAT_SIGNATURE, "value": number.to_string() }), Json::Number)
}

/// A value of a test's: `{signature: secret, "value": ...}` is a secret, and bytes are marked in the same way.
pub(crate) fn read(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => Value::Number(number.as_f64().unwrap_or_default()),
        Json::String(text) => Value::String(text.clone()),
        Json::Array(items) => Value::Array(items.iter().map(read).collect()),
        Json::Object(members) if members.get(SIGNATURE_KEY).and_then(Json::as_str) == Some(SECRET_SIGNATURE) => {
            Value::secret(members.get("value").map_or(Value::Null, read))
        }
        Json::Object(members) if members.get(SIGNATURE_KEY).and_then(Json::as_str) == Some(BYTES_SIGNATURE) => {
            let base64 = members.get("value").and_then(Json::as_str).unwrap_or_default();
            Value::from_base64(base64).unwrap_or(Value::Null)
        }
        Json::Object(members) => Value::Object(read_map(members)),
    }
}

/// Properties of a test's.
pub(crate) fn read_map(members: &Map<String, Json>) -> PropertyMap {
    members.iter().map(|(key, item)| (key.clone(), read(item))).collect()
}

/// The paths of the outermost values for which the test holds.
pub(crate) fn paths(map: &PropertyMap, test: &dyn Fn(&Value) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (key, item) in map {
        find(item, &mut vec![Segment::Key(key.clone())], test, &mut found);
    }
    found
}

fn find(item: &Value, path: &mut Vec<Segment>, test: &dyn Fn(&Value) -> bool, found: &mut Vec<String>) {
    if test(item) {
        found.push(PropertyPath(path.clone()).to_string());
        return;
    }
    let members: Vec<(Segment, &Value)> = match item {
        Value::Object(members) => members.iter().map(|(key, item)| (Segment::Key(key.clone()), item)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(index, item)| (Segment::Index(index), item)).collect(),
        Value::Secret(inner) => return find(inner, path, test, found),
        _ => return,
    };
    for (segment, item) in members {
        path.push(segment);
        find(item, path, test, found);
        path.pop();
    }
}

/// The value at a path, if there is one.
pub(crate) fn at<'a>(map: &'a PropertyMap, path: &str) -> Option<&'a Value> {
    let PropertyPath(segments) = path.parse().ok()?;
    let mut segments = segments.iter();
    let Some(Segment::Key(first)) = segments.next() else { return None };
    let mut here = map.get(first)?;
    for segment in segments {
        while let Value::Secret(inner) = here {
            here = inner;
        }
        here = match (segment, here) {
            (Segment::Key(key), Value::Object(members)) => members.get(key)?,
            (Segment::Index(index), Value::Array(items)) => items.get(*index)?,
            _ => return None,
        };
    }
    Some(here)
}

/// Hides what is known to be secret in every text.
pub(crate) fn redact(json: &mut Json, redactor: &Redactor) {
    match json {
        Json::String(text) => {
            if let std::borrow::Cow::Owned(clean) = redactor.message(text) {
                *text = clean;
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| redact(item, redactor)),
        Json::Object(members) => members.values_mut().for_each(|item| redact(item, redactor)),
        _ => {}
    }
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
