//! Configuration values as they stand in a settings file, and as programs get them.

use serde_norway::{Mapping, Number, Value};

use crate::arguments::ScalarType;
use crate::failure::Result;

const SECURE: &str = "secure";

/// Decrypts one ciphertext of a settings file.
pub(crate) type Decrypt<'a> = &'a dyn Fn(&str) -> Result<String>;

/// Is it the encrypted form, a mapping with the only key `secure`?
#[must_use]
pub(crate) fn is_secure(value: &Value) -> bool {
    ciphertext(value).is_some()
}

/// The ciphertext of an encrypted value.
#[must_use]
pub(crate) fn ciphertext(value: &Value) -> Option<&str> {
    let mapping = value.as_mapping()?;
    if mapping.len() == 1 { mapping.get(SECURE)?.as_str() } else { None }
}

/// The encrypted form of a ciphertext.
#[must_use]
pub(crate) fn secure(ciphertext: String) -> Value {
    let mut mapping = Mapping::new();
    mapping.insert(Value::String(SECURE.to_owned()), Value::String(ciphertext));
    Value::Mapping(mapping)
}

/// Is there an encrypted value anywhere in it?
#[must_use]
pub(crate) fn has_secret(value: &Value) -> bool {
    match value {
        _ if is_secure(value) => true,
        Value::Mapping(mapping) => mapping.values().any(has_secret),
        Value::Sequence(items) => items.iter().any(has_secret),
        Value::Tagged(tagged) => has_secret(&tagged.value),
        _ => false,
    }
}

/// Exchanges every ciphertext in it.
pub(crate) fn rewrite_secrets(value: &mut Value, exchange: Decrypt<'_>) -> Result<()> {
    if let Some(ciphertext) = ciphertext(value) {
        *value = secure(exchange(ciphertext)?);
        return Ok(());
    }
    match value {
        Value::Mapping(mapping) => mapping.values_mut().try_for_each(|value| rewrite_secrets(value, exchange)),
        Value::Sequence(items) => items.iter_mut().try_for_each(|item| rewrite_secrets(item, exchange)),
        Value::Tagged(tagged) => rewrite_secrets(&mut tagged.value, exchange),
        _ => Ok(()),
    }
}

/// The value as JSON with secrets decrypted.
pub(crate) fn to_json(value: &Value, decrypt: Decrypt<'_>) -> Result<serde_json::Value> {
    if let Some(ciphertext) = ciphertext(value) {
        return Ok(serde_json::Value::String(decrypt(ciphertext)?));
    }
    Ok(match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(truth) => (*truth).into(),
        Value::Number(number) => json_number(number),
        Value::String(text) => text.as_str().into(),
        Value::Sequence(items) => {
            serde_json::Value::Array(items.iter().map(|item| to_json(item, decrypt)).collect::<Result<_>>()?)
        }
        Value::Mapping(mapping) => {
            let mut members = mapping
                .iter()
                .map(|(key, value)| Ok((scalar_text(key), to_json(value, decrypt)?)))
                .collect::<Result<Vec<_>>>()?;
            // Sorted, so that the text which a program gets does not depend on the order in the file.
            members.sort_by(|(left, _), (right, _)| left.cmp(right));
            serde_json::Value::Object(members.into_iter().collect())
        }
        Value::Tagged(tagged) => to_json(&tagged.value, decrypt)?,
    })
}

/// The text that a program gets for a value: that of a scalar, and JSON of lists and mappings.
pub(crate) fn to_text(value: &Value, decrypt: Decrypt<'_>) -> Result<String> {
    match value {
        _ if is_secure(value) => match to_json(value, decrypt)? {
            serde_json::Value::String(text) => Ok(text),
            other => Ok(other.to_string()),
        },
        Value::Sequence(_) | Value::Mapping(_) => Ok(to_json(value, decrypt)?.to_string()),
        Value::Tagged(tagged) => to_text(&tagged.value, decrypt),
        scalar => Ok(scalar_text(scalar)),
    }
}

/// Is it a list or a mapping that is not an encrypted scalar?
#[must_use]
pub(crate) fn is_structured(value: &Value) -> bool {
    match value {
        Value::Sequence(_) => true,
        Value::Mapping(_) => !is_secure(value),
        Value::Tagged(tagged) => is_structured(&tagged.value),
        _ => false,
    }
}

fn scalar_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => json_number(number).to_string(),
        _ => String::new(),
    }
}

fn json_number(number: &Number) -> serde_json::Value {
    if let Some(whole) = number.as_i64() {
        whole.into()
    } else if let Some(whole) = number.as_u64() {
        whole.into()
    } else {
        // JSON has no NaN and no infinities; their YAML spelling is as good as any.
        number.as_f64().and_then(serde_json::Number::from_f64).map_or_else(|| number.to_string().into(), Into::into)
    }
}

/// The value to write for a text from the command line. `inside`: it goes into a list or mapping, where whole numbers
/// and truth values are written as such, as Pulumi does. The error says what is wrong with the text.
pub(crate) fn from_text(text: &str, kind: Option<ScalarType>, inside: bool) -> std::result::Result<Value, String> {
    let wrong = |name: &str| format!("'{text}' is not {name}");
    match kind {
        Some(ScalarType::String) => Ok(text.into()),
        Some(ScalarType::Int) => text.parse::<i64>().map(Value::from).map_err(|_| wrong("a whole number")),
        Some(ScalarType::Float) => text.parse::<f64>().map(Value::from).map_err(|_| wrong("a number")),
        Some(ScalarType::Bool) => text.parse::<bool>().map(Value::from).map_err(|_| wrong("`true` or `false`")),
        None if !inside => Ok(text.into()),
        None => Ok(match text {
            "true" => true.into(),
            "false" => false.into(),
            "0" => 0.into(),
            // A leading zero belongs to a text such as a postal code.
            _ if text.trim_start_matches('-').starts_with('0') => text.into(),
            _ => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        }),
    }
}
