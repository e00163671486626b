//! Property paths: `a.b[0]["odd key"]`.

use maloko_core::value::{PropertyMap, Value};

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Segment {
    /// A member of an object.
    Key(String),
    /// An element of a list.
    Index(usize),
}

impl Segment {
    /// As it is shown before a value.
    #[must_use]
    pub(super) fn label(&self) -> String {
        match self {
            Segment::Key(key) if key.is_empty() || key.contains(|c: char| c.is_control() || c.is_whitespace()) => {
                format!("{key:?}")
            }
            Segment::Key(key) => key.clone(),
            Segment::Index(index) => format!("[{index}]"),
        }
    }
}

/// The path as a text, which [`parse`] reads.
#[must_use]
pub(super) fn text(path: &[Segment]) -> String {
    let segment = |(place, segment): (usize, &Segment)| match segment {
        Segment::Index(index) => format!("[{index}]"),
        Segment::Key(key) if key.is_empty() || key.contains(['.', '[', ']', '"', '\\']) => {
            format!("[\"{}\"]", key.replace('\\', "\\\\").replace('"', "\\\""))
        }
        Segment::Key(key) if place == 0 => key.clone(),
        Segment::Key(key) => format!(".{key}"),
    };
    path.iter().enumerate().map(segment).collect()
}

/// Reads a path. What has not the shape of one is a single key.
#[must_use]
pub(super) fn parse(text: &str) -> Vec<Segment> {
    try_parse(text).unwrap_or_else(|| vec![Segment::Key(text.to_owned())])
}

fn try_parse(text: &str) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (segment, after) = bracketed(inside)?;
            segments.push(segment);
            rest = after;
        } else {
            // A dot between segments, none before the first.
            let name = if segments.is_empty() { rest } else { rest.strip_prefix('.')? };
            let end = name.find(['.', '[']).unwrap_or(name.len());
            segments.push(Segment::Key(name.get(..end).filter(|key| !key.is_empty())?.to_owned()));
            rest = &name[end..];
        }
    }
    (!segments.is_empty()).then_some(segments)
}

/// What follows an opening bracket: the segment and the rest behind the closing one.
fn bracketed(inside: &str) -> Option<(Segment, &str)> {
    let Some(quoted) = inside.strip_prefix('"') else {
        let (index, after) = inside.split_once(']')?;
        let segment = if index == "*" { Segment::Key("*".to_owned()) } else { Segment::Index(index.parse().ok()?) };
        return Some((segment, after));
    };
    let mut key = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => key.push(letters.next()?.1),
            '"' => return Some((Segment::Key(key), quoted[at + 1..].strip_prefix(']')?)),
            other => key.push(other),
        }
    }
    None
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

/// Is the path, or something that it is part of, among the hidden ones? `*` stands for any segment.
#[must_use]
pub(super) fn is_hidden(path: &[Segment], hidden: &[Vec<Segment>]) -> bool {
    hidden.iter().any(|pattern| pattern.len() <= path.len() && agree(pattern, path))
}

/// Is a part of what stands at the path among the hidden ones?
#[must_use]
pub(super) fn hides_inside(path: &[Segment], hidden: &[Vec<Segment>]) -> bool {
    hidden.iter().any(|pattern| pattern.len() > path.len() && agree(pattern, path))
}

/// Do they agree as far as both go?
fn agree(pattern: &[Segment], path: &[Segment]) -> bool {
    pattern
        .iter()
        .zip(path)
        .all(|(wanted, segment)| matches!(wanted, Segment::Key(key) if key == "*") || wanted == segment)
}
