//! How the steps of a property path are shown, and what is looked up and hidden by paths.

use maloko_core::property_path::{PathPattern, PatternSegment, PropertyPath, Segment};
use maloko_core::value::{PropertyMap, Value};

/// A step as it is shown before a value.
#[must_use]
pub(super) fn label(segment: &Segment) -> String {
    match segment {
        Segment::Key(key) if key.is_empty() || key.contains(|c: char| c.is_control() || c.is_whitespace()) => {
            format!("{key:?}")
        }
        Segment::Key(key) => key.clone(),
        Segment::Index(index) => format!("[{index}]"),
    }
}

/// Reads a path. What has not the shape of one is a single key.
#[must_use]
pub(super) fn parse(text: &str) -> Vec<Segment> {
    text.parse().map_or_else(|_| vec![Segment::Key(text.to_owned())], |PropertyPath(segments)| segments)
}

/// Reads one of `hideDiffs`. What has not the shape of a path is a single key.
#[must_use]
pub(super) fn parse_hidden(text: &str) -> PathPattern {
    text.parse().unwrap_or_else(|_| PathPattern(vec![PatternSegment::One(Segment::Key(text.to_owned()))]))
}

/// The value at a path, looking through the wrappers of secrets.
#[must_use]
pub(super) fn look_up<'a>(map: &'a PropertyMap, path: &[Segment]) -> Option<&'a Value> {
    let (Segment::Key(first), rest) = path.split_first()? else { return None };
    let mut value = map.get(first)?;
    for segment in rest {
        value = match (value, segment) {
            (Value::Object(members), Segment::Key(key)) => members.get(key)?,
            (Value::Array(items), Segment::Index(index)) => items.get(*index)?,
            // Whatever is inside a secret is as secret as the whole.
            (Value::Secret(_) | Value::Sealed(_), _) => return Some(value),
            _ => return None,
        };
    }
    Some(value)
}

/// Is the path, or something that it is part of, among the hidden ones?
#[must_use]
pub(super) fn is_hidden(path: &[Segment], hidden: &[PathPattern]) -> bool {
    hidden.iter().any(|pattern| pattern.contains(path))
}

/// Is a part of what stands at the path among the hidden ones?
#[must_use]
pub(super) fn hides_inside(path: &[Segment], hidden: &[PathPattern]) -> bool {
    hidden.iter().any(|pattern| pattern.is_inside(path))
}
