//! Values that are looked up, set and removed by property paths.

use crate::config_key::full_key;
use crate::failure::Failure;
use maloko_core::property_path::{PathError, PropertyPath, Segment};
use serde_norway::{Mapping, Value};

use super::value::is_secure;

/// The value at a path below `root`.
#[must_use]
pub(crate) fn get<'v>(root: &'v Value, path: &[Segment]) -> Option<&'v Value> {
    path.iter().try_fold(root, |value, segment| match segment {
        _ if is_secure(value) => None,
        Segment::Key(key) => value.as_mapping()?.get(key.as_str()),
        Segment::Index(index) => value.as_sequence()?.get(*index),
    })
}

/// Sets the value at a path below `root`; missing mappings and lists on the way are made.
pub(crate) fn set(root: &mut Value, path: &[Segment], value: Value) -> Result<(), String> {
    let Some((segment, rest)) = path.split_first() else {
        *root = value;
        return Ok(());
    };
    if is_secure(root) {
        return Err("the path leads into a secret; set the secret as a whole".to_owned());
    }
    let below = match segment {
        Segment::Key(key) => {
            if root.is_null() {
                *root = Value::Mapping(Mapping::new());
            }
            let Value::Mapping(mapping) = root else {
                return Err(format!("the path has the key '{key}' where the value is not a mapping"));
            };
            mapping.entry(Value::String(key.clone())).or_insert(Value::Null)
        }
        Segment::Index(index) => {
            if root.is_null() {
                *root = Value::Sequence(Vec::new());
            }
            let Value::Sequence(items) = root else {
                return Err(format!("the path has the index {index} where the value is not a list"));
            };
            if *index > items.len() {
                return Err(format!("the index {index} is beyond the end of a list of {} items", items.len()));
            }
            if *index == items.len() {
                items.push(Value::Null);
            }
            &mut items[*index]
        }
    };
    set(below, rest, value)
}

/// Removes the value at a path below `root`; `false` when there is none.
pub(crate) fn remove(root: &mut Value, path: &[Segment]) -> bool {
    let Some((segment, rest)) = path.split_first() else { return false };
    if is_secure(root) {
        return false;
    }
    match (segment, root) {
        (Segment::Key(key), Value::Mapping(mapping)) => {
            if rest.is_empty() {
                mapping.shift_remove(key.as_str()).is_some()
            } else {
                mapping.get_mut(key.as_str()).is_some_and(|below| remove(below, rest))
            }
        }
        (Segment::Index(index), Value::Sequence(items)) if *index < items.len() => {
            if rest.is_empty() {
                items.remove(*index);
                true
            } else {
                remove(&mut items[*index], rest)
            }
        }
        _ => false,
    }
}

/// A key from the command line: its full form, and the path below it where keys are paths.
pub(crate) fn locate(project: &str, text: &str, is_path: bool) -> crate::failure::Result<(String, Vec<Segment>)> {
    let full = |key: &str| full_key(project, key).map_err(Failure::configuration);
    if !is_path {
        return Ok((full(text)?, Vec::new()));
    }
    let PropertyPath(segments) = text.parse().map_err(|error: PathError| Failure::configuration(error.to_string()))?;
    match segments.split_first() {
        Some((Segment::Key(first), rest)) => Ok((full(first)?, rest.to_vec())),
        _ => Err(Failure::configuration(format!("the path '{text}' must begin with a key"))),
    }
}

/// Splits `KEY=VALUE`.
pub(crate) fn split_assignment(text: &str) -> crate::failure::Result<(&str, &str)> {
    text.split_once('=')
        .filter(|(key, _)| !key.is_empty())
        .ok_or_else(|| Failure::configuration(format!("'{text}' must have the form KEY=VALUE")))
}
