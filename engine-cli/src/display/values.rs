//! Values as people read them.

use maloko_core::value::{ArchiveSource, AssetSource, Value, base64_of};

use super::redact::{SecretDisplay, Visible};
use maloko_core::invisible::{clean, one_line};

use super::words::count;
use crate::plain;
use maloko_core::redaction::SECRET_TEXT;

/// What stands in the place of a value that is not known yet.
pub(super) const UNKNOWN: &str = "[unknown]";
/// Lists and objects up to this many columns stand on one line.
const SHORT: usize = 60;
/// A text on one line is cut after this many characters.
const MAX_LENGTH: usize = 400;

/// A value on one line.
#[must_use]
pub(super) fn inline(redactor: &SecretDisplay, value: &Value) -> String {
    match redactor.see(value) {
        Visible::Null => "null".to_owned(),
        Visible::Bool(flag) => flag.to_string(),
        Visible::Number(number) => self::number(number),
        Visible::Text(text) => quoted(&redactor.text(text)),
        Visible::Bytes(bytes) => format!("b{}", quoted(&redactor.text(&base64_of(bytes)))),
        Visible::List(items) => {
            let items: Vec<String> = items.iter().map(|item| inline(redactor, item)).collect();
            format!("[{}]", items.join(", "))
        }
        Visible::Object(members) => {
            let members: Vec<String> = SecretDisplay::members(members)
                .map(|(key, item)| format!("{}: {}", one_line(key), inline(redactor, item)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Visible::Secret => SECRET_TEXT.to_owned(),
        Visible::Unknown => UNKNOWN.to_owned(),
        Visible::Resource(reference) => match &reference.id {
            Some(id) if !id.is_empty() => format!("resource {} ({})", one_line(reference.urn.name()), one_line(id)),
            _ => format!("resource {}", one_line(reference.urn.name())),
        },
        Visible::Asset(asset) => {
            let source = match &asset.source {
                AssetSource::Text(_) => "text".to_owned(),
                AssetSource::Path(path) => format!("file {}", clean(path)),
                AssetSource::Uri(uri) => clean(&redactor.text(uri)).into_owned(),
                AssetSource::Elided => "content".to_owned(),
            };
            format!("asset({source}, {})", short_hash(&asset.hash))
        }
        Visible::Archive(archive) => {
            let source = match &archive.source {
                ArchiveSource::Assets(assets) => format!("{} assets", count(assets.len())),
                ArchiveSource::Path(path) => format!("file {}", clean(path)),
                ArchiveSource::Uri(uri) => clean(&redactor.text(uri)).into_owned(),
                ArchiveSource::Elided => "content".to_owned(),
            };
            format!("archive({source}, {})", short_hash(&archive.hash))
        }
    }
}

/// A value on one line where it is short, `None` where it should be taken apart.
#[must_use]
pub(super) fn short(redactor: &SecretDisplay, value: &Value) -> Option<String> {
    match redactor.see(value) {
        Visible::Text(text) if is_long_text(text) => None,
        Visible::List(items) if !items.is_empty() => short_enough(redactor, value, items.len()),
        Visible::Object(members) if !members.is_empty() => short_enough(redactor, value, members.len()),
        _ => Some(inline(redactor, value)),
    }
}

fn short_enough(redactor: &SecretDisplay, value: &Value, parts: usize) -> Option<String> {
    // Each part takes some columns: a huge list is not written out only to be thrown away.
    if parts > SHORT / 3 || value.any(&|inner| matches!(inner, Value::String(text) if text.len() > SHORT)) {
        return None;
    }
    Some(inline(redactor, value)).filter(|line| line.chars().count() <= SHORT && !line.contains('\n'))
}

/// Has it lines that should be shown one by one?
#[must_use]
pub(super) fn is_long_text(text: &str) -> bool {
    text.trim_end_matches('\n').contains('\n')
}

/// A text in quotes, on one line, cut when it is very long.
fn quoted(text: &str) -> String {
    let mut result = String::with_capacity(text.len().min(MAX_LENGTH) + 2);
    result.push('"');
    for letter in text.chars().take(MAX_LENGTH) {
        match letter {
            '"' => result.push_str("\\\""),
            '\\' => result.push_str("\\\\"),
            control if control.is_control() => result.extend(control.escape_default()),
            other => result.push(other),
        }
    }
    result.push('"');
    let length = text.chars().count();
    if length > MAX_LENGTH {
        result.push_str("... (");
        result.push_str(&count(length));
        result.push_str(" characters)");
    }
    result
}

fn number(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() }
    } else {
        // Without a fraction where there is none.
        plain::whole_digits(number).unwrap_or_else(|| number.to_string())
    }
}

fn short_hash(hash: &str) -> &str {
    hash.get(..7).unwrap_or(hash)
}
