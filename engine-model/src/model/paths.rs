//! Property paths, and the two things that are done along them: putting old values back, and telling differences.

use maloko_core::{PropertyMap, Value};

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Segment {
    /// A member.
    Key(String),
    /// An item.
    Index(usize),
    /// All of them.
    All,
}

/// Reads `a.b[0].*`.
#[must_use]
pub(crate) fn parse(text: &str) -> Vec<Segment> {
    let mut segments = Vec::new();
    for part in text.split(['.', '[']).map(|part| part.trim_end_matches(']')).filter(|part| !part.is_empty()) {
        segments.push(match (part, part.parse()) {
            ("*", _) => Segment::All,
            (_, Ok(index)) => Segment::Index(index),
            (key, Err(_)) => Segment::Key(key.to_owned()),
        });
    }
    segments
}

/// `ignoreChanges`: every listed part of `news` becomes what it is in `olds`; a path that does not fit changes nothing.
#[must_use]
pub(crate) fn put_back(olds: &PropertyMap, news: &PropertyMap, paths: &[String]) -> PropertyMap {
    let old = Value::Object(olds.clone());
    let mut current = Value::Object(news.clone());
    for path in paths {
        if let Ok(Some(changed)) = put(Some(&old), Some(&current), &parse(path)) {
            current = changed;
        }
    }
    match current {
        Value::Object(members) => members,
        _ => news.clone(),
    }
}

struct DoesNotFit;

fn put(old: Option<&Value>, new: Option<&Value>, path: &[Segment]) -> Result<Option<Value>, DoesNotFit> {
    let Some((segment, rest)) = path.split_first() else { return Ok(old.cloned()) };
    match (old, new, segment) {
        (None, None, _) => Ok(None),
        (Some(Value::Object(olds)), Some(Value::Object(news)), Segment::Key(_) | Segment::All) => {
            let keys: Vec<&String> = match segment {
                Segment::Key(key) => vec![key],
                _ => olds.keys().chain(news.keys()).collect(),
            };
            let mut members = news.clone();
            for key in keys {
                match put(olds.get(key), news.get(key), rest)? {
                    Some(member) => drop(members.insert(key.clone(), member)),
                    None => drop(members.remove(key)),
                }
            }
            Ok(Some(Value::Object(members)))
        }
        (Some(Value::Array(olds)), Some(Value::Array(news)), Segment::Index(_) | Segment::All) => {
            let indices: Vec<usize> = match segment {
                Segment::Index(index) => vec![*index],
                _ => (0..olds.len().max(news.len())).collect(),
            };
            let mut items = news.clone();
            for index in indices {
                match (olds.get(index), items.get(index)) {
                    (Some(old), Some(new)) => {
                        let changed = put(Some(old), Some(new), rest)?;
                        items[index] = changed.unwrap_or(Value::Null);
                    }
                    (None, None) => {}
                    _ => return Err(DoesNotFit),
                }
            }
            Ok(Some(Value::Array(items)))
        }
        _ => Err(DoesNotFit),
    }
}

/// The paths at which two property maps differ; an absent member is a null one.
#[must_use]
pub(crate) fn differences(olds: &PropertyMap, news: &PropertyMap) -> Vec<Vec<Segment>> {
    let mut found = Vec::new();
    compare(&Value::Object(olds.clone()), &Value::Object(news.clone()), &mut Vec::new(), &mut found);
    found
}

fn compare(old: &Value, new: &Value, path: &mut Vec<Segment>, found: &mut Vec<Vec<Segment>>) {
    match (old, new) {
        (Value::Object(olds), Value::Object(news)) => {
            let mut keys: Vec<&String> = olds.keys().chain(news.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                path.push(Segment::Key(key.clone()));
                compare(olds.get(key).unwrap_or(&Value::Null), news.get(key).unwrap_or(&Value::Null), path, found);
                path.pop();
            }
        }
        (Value::Array(olds), Value::Array(news)) => {
            for index in 0..olds.len().max(news.len()) {
                path.push(Segment::Index(index));
                match (olds.get(index), news.get(index)) {
                    (Some(old), Some(new)) => compare(old, new, path, found),
                    _ => found.push(path.clone()),
                }
                path.pop();
            }
        }
        (old, new) if old == new => {}
        _ => found.push(path.clone()),
    }
}

/// Does a listed path name this one, or something that it is part of?
#[must_use]
pub(crate) fn covers(listed: &[Segment], path: &[Segment]) -> bool {
    listed.len() <= path.len() && listed.iter().zip(path).all(|(mine, theirs)| *mine == Segment::All || mine == theirs)
}
