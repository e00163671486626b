//! How two bags of properties differ, by path.

use std::collections::BTreeSet;

use serde_json::Value as Json;

/// One property that differs. A value is `None` where there is no such property.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    pub(super) path: String,
    pub(super) expected: Option<Json>,
    pub(super) found: Option<Json>,
}

/// The first property that differs, in the order of the names; one within another by its path.
pub(super) fn first_difference(expected: &Json, found: &Json) -> Option<Difference> {
    differs(Some(expected), Some(found), "")
}

fn differs(expected: Option<&Json>, found: Option<&Json>, path: &str) -> Option<Difference> {
    match (expected, found) {
        (Some(Json::Object(one)), Some(Json::Object(other))) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            keys.into_iter().find_map(|key| {
                let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                differs(one.get(key), other.get(key), &inner)
            })
        }
        (Some(Json::Array(one)), Some(Json::Array(other))) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(index, (one, other))| differs(Some(one), Some(other), &format!("{path}[{index}]")))
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
