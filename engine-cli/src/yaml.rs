//! YAML files of a project: reading with the place of an error, and editing that keeps comments and order.

use std::borrow::Cow;
use std::path::Path;
use std::str::FromStr;

use serde_norway::Value;
use yaml_edit::{Document, Mapping, YamlFile};

use crate::failure::{Failure, Result};

mod exact;

use exact::Exact;

/// Nobody opens so many brackets in one another, and a few that are open in a text do not come to as many.
const MAX_OPEN_BRACKETS: usize = 1_000;

/// A value in words, for messages.
pub(crate) fn describe(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Sequence(_) => "a list",
        Value::Mapping(_) => "a mapping",
        Value::Tagged(_) => "a tagged value",
    }
}

/// The text of a file, without the byte order mark that some editors put before it; `None` when there is no such file.
/// `what` names the file in the message of an error.
pub(crate) fn load(what: &str, path: &Path) -> Result<Option<String>> {
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::io(format!("{what} {} cannot be read", path.display()), &error)),
    };
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").map(<[u8]>::to_vec).unwrap_or(bytes);
    String::from_utf8(text).map(Some).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes().iter().take(good).filter(|byte| **byte == b'\n').count() + 1;
        Failure::configuration(format!(
            "{}:{line}: this is no UTF-8 text; save the file as UTF-8 and try again",
            path.display()
        ))
    })
}

/// Reads a YAML text; `path` is for the message of an error. An empty text is `Value::Null`.
pub(crate) fn read(path: &Path, text: &str) -> Result<Value> {
    if let Some(line) = brackets_too_deep(text) {
        return Err(Failure::configuration(format!(
            "{}:{line}: more than {MAX_OPEN_BRACKETS} brackets are open; correct the file and try again",
            path.display()
        )));
    }
    serde_norway::from_str(text).map(|Exact(value)| value).map_err(|error| {
        let place = error.location().map_or_else(
            || path.display().to_string(),
            |location| format!("{}:{}:{}", path.display(), location.line(), location.column()),
        );
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(head, _)| head);
        Failure::configuration(format!("{place}: this is not valid YAML: {message}; correct the file and try again"))
    })
}

/// The line with one open bracket too many: for each token, the parser looks at all that are open. Brackets in texts count, too.
fn brackets_too_deep(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    let at = text.bytes().position(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > MAX_OPEN_BRACKETS
    })?;
    Some(text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1)
}

/// A text as a value, also between braces: between quotes where it would be read as something else.
#[must_use]
pub(crate) fn word(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@+~?&".contains(&byte);
    let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'/');
    if begins && text.bytes().all(is_plain) && !text.ends_with(':') {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("'{}'", text.replace('\'', "''")))
}

/// The place of a key in a file, as `file:line`, as exactly as it can be told. `keys` leads there from the top.
#[must_use]
pub(crate) fn place(path: &Path, text: &str, keys: &[&str]) -> String {
    match line_of(text, keys) {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}

fn line_of(text: &str, keys: &[&str]) -> Option<usize> {
    let mut mapping = YamlFile::from_str(text).ok()?.document()?.as_mapping()?;
    let mut line = None;
    for key in keys {
        let Some(entry) = mapping.find_entry_by_key(*key) else { break };
        let start = entry.key_node()?.byte_range().start as usize;
        line = Some(text.get(..start)?.matches('\n').count() + 1);
        let Some(below) = entry.value_node().and_then(|node| node.as_mapping().cloned()) else { break };
        mapping = below;
    }
    line
}

/// The text with the value at `keys` set to `value` (`None`: removed); missing mappings on the way are made. Comments
/// and order stay; should the editor not manage that, `false` says that they were given up.
pub(crate) fn edit(path: &Path, text: &str, keys: &[&str], value: Option<&Value>) -> Result<(String, bool)> {
    let mut wanted = read(path, text)?;
    match value {
        Some(value) => set_at(&mut wanted, keys, value),
        None => remove_at(&mut wanted, keys),
    }
    // The editor keeps the form, but only the other reader's word counts: what it reads must be what is wanted.
    let edited = edit_in_place(text, keys, value).filter(|edited| read(path, edited).is_ok_and(|is| is == wanted));
    match edited {
        Some(edited) => Ok((edited, true)),
        None => Ok((write(&wanted)?, !text.lines().any(|line| line.trim_start().starts_with('#')))),
    }
}

/// A value as YAML text.
pub(crate) fn write(value: &Value) -> Result<String> {
    match value {
        Value::Null => Ok(String::new()),
        Value::Mapping(mapping) if mapping.is_empty() => Ok("{}\n".to_owned()),
        value => serde_norway::to_string(value)
            .map_err(|error| Failure::new(format!("a value cannot be written as YAML: {error}"))),
    }
}

fn edit_in_place(text: &str, keys: &[&str], value: Option<&Value>) -> Option<String> {
    if text.lines().all(|line| line.trim().is_empty() || line.starts_with('#')) {
        // Nothing there yet but perhaps comments.
        let mut wanted = Value::Null;
        set_at(&mut wanted, keys, value?);
        let separator = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Some(format!("{text}{separator}{}", write(&wanted).ok()?));
    }
    let file = YamlFile::from_str(text).ok()?;
    let root = file.document()?.as_mapping()?;
    let (mapping, rest) = descend(root, keys);
    let (key, below) = rest.split_first()?;
    match value {
        None if below.is_empty() => {
            mapping.remove(*key)?;
        }
        None => return None,
        Some(value) => {
            let mut wanted = Value::Null;
            set_at(&mut wanted, below, value);
            let fragment = Document::from_str(&write(&wanted).ok()?).ok()?;
            if let Some(scalar) = fragment.as_scalar() {
                mapping.set(*key, scalar);
            } else {
                mapping.set(*key, fragment);
            }
        }
    }
    let mut edited = file.to_string();
    if !edited.ends_with('\n') {
        edited.push('\n');
    }
    Some(edited)
}

/// Goes down as long as there are mappings; the last key is never used up.
fn descend<'k>(mut mapping: Mapping, mut keys: &'k [&'k str]) -> (Mapping, &'k [&'k str]) {
    while let [key, rest @ ..] = keys {
        if rest.is_empty() {
            break;
        }
        let Some(below) = mapping.get_mapping(*key) else { break };
        mapping = below;
        keys = rest;
    }
    (mapping, keys)
}

fn set_at(root: &mut Value, keys: &[&str], value: &Value) {
    let mut place = root;
    for key in keys {
        if !place.is_mapping() {
            *place = Value::Mapping(serde_norway::Mapping::new());
        }
        let Value::Mapping(mapping) = place else { return };
        place = mapping.entry(Value::String((*key).to_owned())).or_insert(Value::Null);
    }
    *place = value.clone();
}

fn remove_at(root: &mut Value, keys: &[&str]) {
    let Some((last, way)) = keys.split_last() else { return };
    let mut place = root;
    for key in way {
        let Some(below) = place.get_mut(*key) else { return };
        place = below;
    }
    if let Value::Mapping(mapping) = place {
        mapping.shift_remove(*last);
    }
}

#[cfg(test)]
#[path = "yaml_tests.rs"]
mod tests;
