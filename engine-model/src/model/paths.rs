//! The two things that are done along property paths: putting old values back, and telling differences. How paths are written
//! is the core's to say; what is done along them is told here a second time.

use maloko_core::property_path::{PathPattern, PatternSegment, Segment};
use maloko_core::{PropertyMap, Value};

/// `ignoreChanges`: every listed part of `news` becomes what it is in `olds`; a path that does not fit changes nothing.
#[must_use]
pub(crate) fn put_back(olds: &PropertyMap, news: &PropertyMap, paths: &[String]) -> PropertyMap {
    let old = Value::Object(olds.clone());
    let mut current = Value::Object(news.clone());
    for path in paths {
        let Ok(PathPattern(path)) = path.parse() else { continue };
        if let Ok(Some(changed)) = put(Some(&old), Some(&current), &path) {
            current = changed;
        }
    }
    match current {
        Value::Object(members) => members,
        _ => news.clone(),
    }
}

struct DoesNotFit;

fn put(old: Option<&Value>, new: Option<&Value>, path: &[PatternSegment]) -> Result<Option<Value>, DoesNotFit> {
    let Some((segment, rest)) = path.split_first() else { return Ok(old.cloned()) };
    match (old, new, segment) {
        (None, None, _) => Ok(None),
        (
            Some(Value::Object(olds)),
            Some(Value::Object(news)),
            PatternSegment::One(Segment::Key(_)) | PatternSegment::Any,
        ) => {
            let keys: Vec<&String> = match segment {
                PatternSegment::One(Segment::Key(key)) => vec![key],
                _ => olds.keys().chain(news.keys()).collect(),
            };
            let mut members = news.clone();
            let mut tried = Vec::new();
            for key in keys {
                let one_sided = olds.contains_key(key) != news.contains_key(key);
                if *segment == PatternSegment::Any && one_sided && !rest.is_empty() {
                    continue;
                }
                let changed = put(olds.get(key), news.get(key), rest);
                tried.push(changed.is_ok());
                match changed {
                    Ok(Some(member)) => drop(members.insert(key.clone(), member)),
                    Ok(None) => drop(members.remove(key)),
                    Err(DoesNotFit) => {}
                }
            }
            one_fits(&tried).map(|()| Some(Value::Object(members)))
        }
        (
            Some(Value::Array(olds)),
            Some(Value::Array(news)),
            PatternSegment::One(Segment::Index(_)) | PatternSegment::Any,
        ) => {
            let indices: Vec<usize> = match segment {
                PatternSegment::One(Segment::Index(index)) => vec![*index],
                _ => (0..olds.len().min(news.len())).collect(),
            };
            let mut items = news.clone();
            let mut tried = Vec::new();
            for index in indices {
                match (olds.get(index), news.get(index)) {
                    (Some(old), Some(new)) => {
                        let changed = put(Some(old), Some(new), rest);
                        tried.push(changed.is_ok());
                        if let Ok(changed) = changed {
                            items[index] = changed.unwrap_or(Value::Null);
                        }
                    }
                    (None, None) => {}
                    _ => return Err(DoesNotFit),
                }
            }
            one_fits(&tried).map(|()| Some(Value::Array(items)))
        }
        _ => Err(DoesNotFit),
    }
}

/// A wildcard that has places fits one of them; anything else has one place.
fn one_fits(tried: &[bool]) -> Result<(), DoesNotFit> {
    if tried.is_empty() || tried.contains(&true) { Ok(()) } else { Err(DoesNotFit) }
}

/// Does a listed path name something inside of a place whose new value is not known yet?
#[must_use]
pub(crate) fn is_below_unknown(PathPattern(listed): &PathPattern, path: &[Segment], news: &PropertyMap) -> bool {
    if listed.len() <= path.len() || !covers(&PathPattern(listed[..path.len()].to_vec()), path) {
        return false;
    }
    let mut value = &Value::Object(news.clone());
    for segment in path {
        let inner = match (value, segment) {
            (Value::Object(members), Segment::Key(key)) => members.get(key),
            (Value::Array(items), Segment::Index(index)) => items.get(*index),
            _ => None,
        };
        let Some(inner) = inner else { return false };
        value = inner;
    }
    *value == Value::Unknown
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
pub(crate) fn covers(PathPattern(listed): &PathPattern, path: &[Segment]) -> bool {
    let agree = |(mine, theirs): (&PatternSegment, &Segment)| match mine {
        PatternSegment::Any => true,
        PatternSegment::One(mine) => mine == theirs,
    };
    listed.len() <= path.len() && listed.iter().zip(path).all(agree)
}

/// Does it name, step by step, this place and then something inside of it?
#[must_use]
pub(crate) fn is_longer(PathPattern(listed): &PathPattern, path: &[Segment]) -> bool {
    let agree = |(mine, theirs): (&PatternSegment, &Segment)| *mine == PatternSegment::One(theirs.clone());
    listed.len() > path.len() && listed.iter().zip(path).all(agree)
}
