//! Property paths: `a.b[0]["odd key"]`, with `*` for every key or index.

use std::fmt;
use std::str::FromStr;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// A member of an object.
    Key(String),
    /// An item of a list.
    Index(usize),
    /// Every member or item.
    Wildcard,
}

/// A path to a part of a resource's properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertyPath(pub Vec<Segment>);

/// Why a text is not a path.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{text}' is not a property path: {reason}")]
pub struct PathError {
    text: String,
    reason: &'static str,
}

impl FromStr for PropertyPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let error = |reason| PathError { text: text.to_owned(), reason };
        let mut segments = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix('.') {
                if segments.is_empty() || after.is_empty() || after.starts_with(['.', '[']) {
                    return Err(error("a name is missing beside a dot"));
                }
                rest = after;
            } else if let Some(after) = rest.strip_prefix("[\"") {
                let (key, after) = quoted(after).ok_or_else(|| error("a quoted name does not end"))?;
                segments.push(Segment::Key(key));
                rest = after.strip_prefix(']').ok_or_else(|| error("a bracket is not closed"))?;
            } else if let Some(after) = rest.strip_prefix('[') {
                let (inside, after) = after.split_once(']').ok_or_else(|| error("a bracket is not closed"))?;
                segments.push(if inside == "*" {
                    Segment::Wildcard
                } else {
                    Segment::Index(inside.parse().map_err(|_| error("an index is not a number"))?)
                });
                rest = after;
            } else {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let (name, after) = rest.split_at(end);
                segments.push(if name == "*" { Segment::Wildcard } else { Segment::Key(name.to_owned()) });
                rest = after;
            }
        }
        if segments.is_empty() { Err(error("it is empty")) } else { Ok(Self(segments)) }
    }
}

/// The text up to the closing quote, with `\"` for a quote in it, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut key = String::new();
    let mut characters = text.char_indices();
    while let Some((index, character)) = characters.next() {
        match character {
            '"' => return Some((key, &text[index + 1..])),
            '\\' => key.push(characters.next()?.1),
            other => key.push(other),
        }
    }
    None
}

impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if is_plain(key) => {
                    if position > 0 {
                        f.write_str(".")?;
                    }
                    f.write_str(key)?;
                }
                Segment::Key(key) => write!(f, "[\"{}\"]", key.replace('\\', "\\\\").replace('"', "\\\""))?,
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Wildcard => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

/// Can the key stand in a path without quotes?
fn is_plain(key: &str) -> bool {
    !key.is_empty() && key != "*" && !key.contains(['.', '[', ']', '"'])
}

impl PropertyPath {
    /// Does this path name the other one, or something that the other one is part of?
    #[must_use]
    pub fn contains(&self, other: &PropertyPath) -> bool {
        self.0.len() <= other.0.len()
            && self.0.iter().zip(&other.0).all(|(mine, theirs)| *mine == Segment::Wildcard || mine == theirs)
    }
}
