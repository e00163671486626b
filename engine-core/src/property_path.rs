//! Property paths: `a.b[0]["odd key"]`, and patterns of them: `a[*].b`. Everything that reads or writes one does it here.
//!
//! The grammar is that of <https://www.pulumi.com/docs/reference/property-paths/>:
//!
//! ```text
//! path    = ( name | bracket ) { "." name | bracket }
//! name    = one or more characters, none of them "." or "["
//! bracket = "[" ( index | "*" | quoted ) "]"
//! index   = one or more digits
//! quoted  = '"' { any character but '"' and '\' | '\' any character } '"'
//! ```
//!
//! There are two readings of it, because `*` does not mean the same everywhere:
//!
//! - [`PropertyPath`] names one place: the keys of `config --path` and of a detailed diff. `*` and `["*"]` are a name like any
//!   other there, as it is one of a map that has that key. `[*]` is an error.
//! - [`PathPattern`] names many: `ignoreChanges`, `replaceOnChanges` and `hideDiffs`. `*`, `[*]` and `["*"]` are every key or
//!   index (docs/rules 2.5, 3.4).
//!
//! Pulumi's page wants brackets around names that begin with a digit, or have `]` or `"` in them. They are read without them,
//! too, as Pulumi does: there is no second meaning that they could have.

use std::fmt;
use std::str::FromStr;

#[cfg(test)]
#[path = "property_path_tests.rs"]
mod property_path_tests;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A member of an object.
    Key(String),
    /// An item of a list.
    Index(usize),
}

/// A path to a part of properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PropertyPath(pub Vec<Segment>);

/// One step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternSegment {
    /// This member or item.
    One(Segment),
    /// Every member or item.
    Any,
}

/// Paths to parts of properties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathPattern(pub Vec<PatternSegment>);

/// Why a text is not a path.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("'{text}' is not a property path: {reason}, at character {}", self.character())]
pub struct PathError {
    text: String,
    /// The byte at which it is wrong.
    at: usize,
    reason: &'static str,
}

impl PathError {
    /// The character at which it is wrong, counted from 1.
    fn character(&self) -> usize {
        self.text.char_indices().take_while(|(index, _)| *index < self.at).count() + 1
    }
}

impl FromStr for PropertyPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let segment = |read| match read {
            Read::Name(name) => Ok(Segment::Key(name)),
            Read::Index(index) => Ok(Segment::Index(index)),
            Read::Star => Err("'[*]' stands for many places where one is wanted"),
        };
        Reader { text, at: 0 }.read(segment).map(Self)
    }
}

impl FromStr for PathPattern {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        let segment = |read| match read {
            Read::Star => Ok(PatternSegment::Any),
            Read::Name(name) if name == "*" => Ok(PatternSegment::Any),
            Read::Name(name) => Ok(PatternSegment::One(Segment::Key(name))),
            Read::Index(index) => Ok(PatternSegment::One(Segment::Index(index))),
        };
        Reader { text, at: 0 }.read(segment).map(Self)
    }
}

/// A segment as it is written.
enum Read {
    Name(String),
    Index(usize),
    Star,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn read<T>(mut self, segment: impl Fn(Read) -> Result<T, &'static str>) -> Result<Vec<T>, PathError> {
        if self.text.is_empty() {
            return Err(self.wrong("it is empty"));
        }
        let mut segments = Vec::new();
        while !self.rest().is_empty() {
            let (first, start) = (segments.is_empty(), self.at);
            let read = if self.take("[") {
                self.bracket(start)?
            } else if self.take(".") == first {
                return Err(PathError { at: start, ..self.wrong(Self::between(first)) });
            } else {
                self.name()?
            };
            segments.push(segment(read).map_err(|reason| PathError { at: start, ..self.wrong(reason) })?);
        }
        Ok(segments)
    }

    const fn between(first: bool) -> &'static str {
        if first {
            "a name is missing before the dot"
        } else {
            "a dot or a bracket is missing after the closing bracket"
        }
    }

    fn name(&mut self) -> Result<Read, PathError> {
        let rest = self.rest();
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.wrong("a name is missing after the dot"));
        }
        self.at += end;
        Ok(Read::Name(rest[..end].to_owned()))
    }

    /// What follows an opening bracket.
    fn bracket(&mut self, start: usize) -> Result<Read, PathError> {
        if self.take("\"") {
            let name = self.quoted()?;
            let closed = self.take("]");
            return if closed { Ok(Read::Name(name)) } else { Err(self.wrong("a closing bracket is missing")) };
        }
        let Some((inside, _)) = self.rest().split_once(']') else {
            return Err(PathError { at: start, ..self.wrong("a bracket is not closed") });
        };
        let digits = inside.bytes().all(|byte| byte.is_ascii_digit());
        let read = match inside.parse() {
            _ if inside == "*" => Read::Star,
            Ok(index) if digits => Read::Index(index),
            _ => return Err(self.wrong("an index is not a number, and a name in brackets needs quotes")),
        };
        self.at += inside.len() + 1;
        Ok(read)
    }

    /// The text up to the closing quote. A backslash takes the next character as it is.
    fn quoted(&mut self) -> Result<String, PathError> {
        let mut name = String::new();
        let mut characters = self.rest().char_indices();
        while let Some((index, character)) = characters.next() {
            match character {
                '"' => {
                    self.at += index + 1;
                    return Ok(name);
                }
                '\\' => name.extend(characters.next().map(|(_, next)| next)),
                other => name.push(other),
            }
        }
        Err(PathError { at: self.at - 1, ..self.wrong("a quoted name does not end") })
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    fn wrong(&self, reason: &'static str) -> PathError {
        PathError { text: self.text.to_owned(), at: self.at, reason }
    }
}

impl fmt::Display for PropertyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(position, segment)| write_segment(f, position, segment))
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().enumerate().try_for_each(|(position, segment)| match segment {
            PatternSegment::One(segment) => write_segment(f, position, segment),
            PatternSegment::Any => f.write_str("[*]"),
        })
    }
}

fn write_segment(f: &mut fmt::Formatter<'_>, position: usize, segment: &Segment) -> fmt::Result {
    match segment {
        Segment::Key(key) if is_plain(key) => write!(f, "{}{key}", if position > 0 { "." } else { "" }),
        Segment::Key(key) => write!(f, "[\"{}\"]", key.replace('\\', "\\\\").replace('"', "\\\"")),
        Segment::Index(index) => write!(f, "[{index}]"),
    }
}

/// Can the key stand in a path without quotes?
fn is_plain(key: &str) -> bool {
    !key.is_empty() && key != "*" && !key.contains(['.', '[', ']', '"', '\\'])
}

impl PathPattern {
    /// Does it name the place, or something that the place is part of?
    #[must_use]
    pub fn contains(&self, place: &[Segment]) -> bool {
        self.0.len() <= place.len() && self.agrees(place)
    }

    /// Does it name something inside of the place?
    #[must_use]
    pub fn is_inside(&self, place: &[Segment]) -> bool {
        self.0.len() > place.len() && self.agrees(place)
    }

    /// Do they agree as far as both go?
    fn agrees(&self, place: &[Segment]) -> bool {
        self.0.iter().zip(place).all(|(mine, theirs)| match mine {
            PatternSegment::Any => true,
            PatternSegment::One(mine) => mine == theirs,
        })
    }
}
