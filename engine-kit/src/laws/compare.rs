//! How two bags of properties differ, by path.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::exchange::DeployedResource;

/// One property that differs. A value is `None` where there is no such property.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) path: String,
    pub(crate) expected: Option<Json>,
    pub(crate) found: Option<Json>,
}

/// The first property that differs, in the order of the names; one within another by its path.
pub(crate) fn first_difference(expected: &Json, found: &Json) -> Option<Difference> {
    first_difference_but(expected, found, &[])
}

/// The same, apart from the properties that are listed, by name or path.
pub(super) fn first_difference_but(expected: &Json, found: &Json, listed: &[String]) -> Option<Difference> {
    differs(Some(expected), Some(found), "", listed, &same)
}

/// A difference, apart from what is listed: rather in a property that can be shown than in one that is secret.
pub(crate) fn rather_plain(
    listed: &[String],
    secret: &[String],
    find: impl Fn(&[String]) -> Option<Difference>,
) -> Option<Difference> {
    find(&[listed, secret].concat()).or_else(|| find(listed))
}

/// The first output in which two objects differ, apart from their ids, which are shown as `<id>`.
pub(crate) fn first_difference_of(
    expected: &DeployedResource,
    found: &DeployedResource,
    listed: &[String],
) -> Option<Difference> {
    let same = |one: Option<&Json>, other: Option<&Json>| match (one, other) {
        (Some(Json::String(one)), Some(Json::String(other))) => alike(one, &expected.id, other, &found.id),
        (one, other) => same(one, other),
    };
    let difference = differs(Some(&expected.outputs), Some(&found.outputs), "", listed, &same)?;
    Some(Difference {
        path: difference.path,
        expected: difference.expected.map(|value| without_id(value, &expected.id)),
        found: difference.found.map(|value| without_id(value, &found.id)),
    })
}

/// Is a path one of those, or within one of them?
pub(crate) fn is_listed(path: &str, listed: &[String]) -> bool {
    listed.iter().any(|it| match path.strip_prefix(it.as_str()) {
        Some(rest) => rest.is_empty() || rest.starts_with(['.', '[']),
        None => false,
    })
}

/// The texts in a value, with their paths.
pub(super) fn texts_in(value: &Json) -> Vec<(String, &str)> {
    fn collect<'a>(value: &'a Json, path: &str, found: &mut Vec<(String, &'a str)>) {
        match value {
            Json::String(text) => found.push((path.to_owned(), text)),
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    collect(item, &format!("{path}[{index}]"), found);
                }
            }
            Json::Object(members) => {
                let sorted: BTreeMap<&String, &Json> = members.iter().collect();
                for (key, item) in sorted {
                    collect(item, &member_path(path, key), found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    collect(value, "", &mut found);
    found
}

/// The value at a path.
pub(super) fn at_path<'a>(value: &'a Json, path: &str) -> Option<&'a Json> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// A value without the members that are null: a state does not tell them from those that are not there.
pub(super) fn without_nulls(value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            let members = members.iter().filter(|(_, item)| !item.is_null());
            members.map(|(key, item)| (key.clone(), without_nulls(item))).collect()
        }
        Json::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

pub(super) fn member_path(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

type ValueEquality<'a> = &'a dyn Fn(Option<&Json>, Option<&Json>) -> bool;

fn differs(
    expected: Option<&Json>,
    found: Option<&Json>,
    path: &str,
    listed: &[String],
    same: ValueEquality,
) -> Option<Difference> {
    if is_listed(path, listed) {
        return None;
    }
    match (expected, found) {
        (Some(Json::Object(one)), Some(Json::Object(other))) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            keys.into_iter()
                .find_map(|key| differs(one.get(key), other.get(key), &member_path(path, key), listed, same))
        }
        (Some(Json::Array(one)), Some(Json::Array(other))) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(index, (one, other))| {
                differs(Some(one), Some(other), &format!("{path}[{index}]"), listed, same)
            })
        }
        (one, other) if same(one, other) => None,
        (one, other) => Some(Difference { path: path.to_owned(), expected: one.cloned(), found: other.cloned() }),
    }
}

// `1` and `1.0` are one number in every state.
fn same(one: Option<&Json>, other: Option<&Json>) -> bool {
    match (one, other) {
        (Some(Json::Number(left)), Some(Json::Number(right))) => {
            left == right || (left.is_f64() != right.is_f64() && left.as_f64() == right.as_f64())
        }
        _ => one == other,
    }
}

/// Is `other` the text `one`, apart from the ids of the objects that they belong to? An id that stands in a text may be
/// meant or be there by chance, as `101` is in the port `41017`: a text may keep it in each place.
fn alike(one: &str, id_of_one: &str, other: &str, id_of_other: &str) -> bool {
    if one == other || id_of_one.is_empty() || id_of_other.is_empty() {
        return one == other;
    }
    let after = |piece: &str, begun: &BTreeSet<usize>| -> BTreeSet<usize> {
        let fits = |at: &&usize| other.get(**at..).is_some_and(|rest| rest.starts_with(piece));
        begun.iter().filter(fits).map(|at| at + piece.len()).collect()
    };
    let mut pieces = one.split(id_of_one);
    let mut ends = after(pieces.next().unwrap_or_default(), &BTreeSet::from([0]));
    for piece in pieces {
        let mut begun = after(id_of_one, &ends);
        begun.extend(after(id_of_other, &ends));
        ends = after(piece, &begun);
    }
    ends.contains(&other.len())
}

fn without_id(value: Json, id: &str) -> Json {
    match value {
        Json::String(text) if !id.is_empty() => Json::String(text.replace(id, "<id>")),
        Json::Array(items) => items.into_iter().map(|item| without_id(item, id)).collect(),
        Json::Object(members) => members.into_iter().map(|(key, item)| (key, without_id(item, id))).collect(),
        other => other,
    }
}
