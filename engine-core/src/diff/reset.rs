//! `ignoreChanges`: values that go back to what they were before the provider sees them (docs/rules 2.5).

use std::borrow::Cow;

use crate::property_path::{PathPattern, PatternSegment, Segment};
use crate::value::{PropertyMap, Value};

/// Resets the values at the paths in `news` to those in `olds`. Gives back the paths that cannot be applied, as they
/// were written; paths that cannot be parsed are passed over.
pub fn reset_ignored(olds: &PropertyMap, news: &mut PropertyMap, paths: &[String]) -> Vec<String> {
    let mut not_applicable = Vec::new();
    for text in paths {
        let Ok(path) = text.parse::<PathPattern>() else { continue };
        // Work on a copy, so that a path that fails half-way leaves nothing changed.
        let mut copy = Value::Object(news.clone());
        if reset(Some(&Value::Object(olds.clone())), &mut copy, &path.0) {
            if let Value::Object(members) = copy {
                *news = members;
            }
        } else {
            not_applicable.push(text.clone());
        }
    }
    not_applicable
}

/// Looks through the wrapper of a secret.
fn inside(value: &Value) -> &Value {
    match value {
        Value::Secret(inner) => inner,
        other => other,
    }
}

/// What is inside the wrapper of a secret, each part of it a secret: any of them may be copied out of it.
fn opened(value: &Value) -> Cow<'_, Value> {
    let Value::Secret(inner) = value else { return Cow::Borrowed(value) };
    match &**inner {
        Value::Object(members) => {
            let members = members.iter().map(|(key, member)| (key.clone(), Value::secret(member.clone())));
            Cow::Owned(Value::Object(members.collect()))
        }
        Value::Array(items) => Cow::Owned(Value::Array(items.iter().cloned().map(Value::secret).collect())),
        other => Cow::Borrowed(other),
    }
}

fn inside_mut(value: &mut Value) -> &mut Value {
    match value {
        Value::Secret(inner) => inner,
        other => other,
    }
}

fn reset(old: Option<&Value>, new: &mut Value, path: &[PatternSegment]) -> bool {
    let Some((segment, rest)) = path.split_first() else {
        if let Some(old) = old {
            *new = old.clone();
        }
        return true;
    };
    // Below a secret, nothing needs a wrapper of its own.
    let old = old.map(|old| if new.is_secret() { Cow::Borrowed(inside(old)) } else { opened(old) });
    let old = old.as_deref();
    match (segment, inside_mut(new)) {
        (PatternSegment::One(Segment::Key(key)), Value::Object(news)) => match old {
            None | Some(Value::Object(_)) => {
                let old_member = match old {
                    Some(Value::Object(olds)) => olds.get(key),
                    _ => None,
                };
                reset_member(old_member, news, key, rest)
            }
            Some(_) => false,
        },
        (PatternSegment::Any, Value::Object(news)) => {
            let Some(Value::Object(olds)) = old else { return false };
            let keys: Vec<String> = olds.keys().chain(news.keys()).cloned().collect();
            // What lies below a member is compared where both sides have that member.
            let both = |key: &&String| rest.is_empty() || (olds.contains_key(*key) && news.contains_key(*key));
            let keys: Vec<_> = keys.iter().filter(both).collect();
            fits_any(keys.into_iter().map(|key| reset_member(olds.get(key), news, key, rest)))
        }
        (PatternSegment::One(Segment::Index(index)), Value::Array(news)) => {
            let Some(Value::Array(olds)) = old else { return false };
            match (olds.get(*index), news.get_mut(*index)) {
                (Some(old), Some(new)) => reset(Some(old), new, rest),
                (None, None) => true,
                _ => false,
            }
        }
        (PatternSegment::Any, Value::Array(news)) => {
            let Some(Value::Array(olds)) = old else { return false };
            // Items that one side alone has are as the program has them.
            fits_any(olds.iter().zip(news).map(|(old, new)| reset(Some(old), new, rest)))
        }
        _ => false,
    }
}

/// Resets the places that a wildcard stands for, each by itself. Does it fit one of them, or are there none?
fn fits_any(places: impl Iterator<Item = bool>) -> bool {
    places.reduce(|any, fits| any || fits).unwrap_or(true)
}

fn reset_member(old: Option<&Value>, news: &mut PropertyMap, key: &str, rest: &[PatternSegment]) -> bool {
    match (old, news.get_mut(key)) {
        (None, None) => true,
        (Some(old), None) if rest.is_empty() => {
            news.insert(key.to_owned(), old.clone());
            true
        }
        (None, Some(_)) if rest.is_empty() => {
            news.remove(key);
            true
        }
        // A container that only one side has: its parts cannot be compared.
        (Some(_), None) | (None, Some(_)) => false,
        (old, Some(new)) => reset(old, new, rest),
    }
}
