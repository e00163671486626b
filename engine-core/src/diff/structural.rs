//! The engine's own comparison of inputs, used where a provider has no opinion (docs/rules 3.3).

use std::collections::BTreeSet;

use crate::property_diff::{DetailedDiff, DiffKind, PropertyDiff};
use crate::property_path::{PropertyPath, Segment};
use crate::value::{PropertyMap, Value};

/// How `news` differ from `olds`, leaf by leaf; empty when they do not. Secrets count as their plain values; an absent
/// member is the same as a null one.
#[must_use]
pub fn diff_properties(olds: &PropertyMap, news: &PropertyMap) -> DetailedDiff {
    let mut found = DetailedDiff::new();
    diff_members(olds, news, &mut Vec::new(), &mut found);
    found
}

/// The top-level keys that a detailed diff touches.
#[must_use]
pub fn changed_keys(diff: &DetailedDiff) -> Vec<String> {
    let keys: BTreeSet<String> = diff
        .keys()
        .filter_map(|path| path.parse::<PropertyPath>().ok())
        .filter_map(|path| match path.0.into_iter().next() {
            Some(Segment::Key(key)) => Some(key),
            Some(Segment::Index(_)) | None => None,
        })
        .collect();
    keys.into_iter().collect()
}

/// A step of the way to a value: most values are equal, so the way becomes a path only where they are not.
#[derive(Clone, Copy)]
enum Place<'a> {
    Key(&'a str),
    Index(usize),
}

fn diff_members<'a>(olds: &'a PropertyMap, news: &'a PropertyMap, way: &mut Vec<Place<'a>>, found: &mut DetailedDiff) {
    let stayed = olds.iter().map(|(key, old)| (key, old, news.get(key).unwrap_or(&Value::Null)));
    let came = news.iter().filter(|(key, _)| !olds.contains_key(*key)).map(|(key, new)| (key, &Value::Null, new));
    for (key, old, new) in stayed.chain(came) {
        way.push(Place::Key(key));
        diff_values(old, new, way, found);
        way.pop();
    }
}

/// What a value is once secrets and outputs around it are taken off.
pub(crate) fn bare(value: &Value) -> &Value {
    match value {
        Value::Secret(inner) => bare(inner),
        Value::Output(output) => output.value.as_ref().map_or(&Value::Unknown, bare),
        other => other,
    }
}

fn diff_values<'a>(old: &'a Value, new: &'a Value, way: &mut Vec<Place<'a>>, found: &mut DetailedDiff) {
    match (bare(old), bare(new)) {
        (Value::Object(olds), Value::Object(news)) => diff_members(olds, news, way, found),
        (Value::Array(olds), Value::Array(news)) => {
            for index in 0..olds.len().max(news.len()) {
                way.push(Place::Index(index));
                match (olds.get(index), news.get(index)) {
                    (Some(old), Some(new)) => diff_values(old, new, way, found),
                    (None, Some(_)) => add(way, DiffKind::Add, found),
                    _ => add(way, DiffKind::Delete, found),
                }
                way.pop();
            }
        }
        (old, new) if same_leaf(old, new) => {}
        (Value::Null, _) => add(way, DiffKind::Add, found),
        (_, Value::Null) => add(way, DiffKind::Delete, found),
        _ => add(way, DiffKind::Update, found),
    }
}

fn same_leaf(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Asset(old), Value::Asset(new)) => old.hash == new.hash,
        (Value::Archive(old), Value::Archive(new)) => old.hash == new.hash,
        (Value::Resource(old), Value::Resource(new)) => old.urn == new.urn && old.id == new.id,
        // A NaN that stays a NaN is no change, though it does not equal itself; neither is another sign of zero.
        (Value::Number(old), Value::Number(new)) => {
            old.partial_cmp(new).map_or_else(|| old.is_nan() && new.is_nan(), std::cmp::Ordering::is_eq)
        }
        (old, new) => old == new,
    }
}

fn add(way: &[Place<'_>], kind: DiffKind, found: &mut DetailedDiff) {
    let segments = way.iter().map(|place| match place {
        Place::Key(key) => Segment::Key((*key).to_owned()),
        Place::Index(index) => Segment::Index(*index),
    });
    found.insert(PropertyPath(segments.collect()).to_string(), PropertyDiff { kind, input_diff: true });
}
