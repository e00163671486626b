//! What is wrong with a schema, and where.

use std::fmt;

/// What is wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct SchemaFault {
    /// Members from the root, such as `resources/random:index/randomPet:RandomPet/properties/length`; empty: the document.
    pub place: String,
    /// What is wrong there.
    pub what: String,
}

impl SchemaFault {
    pub(super) fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place.as_str() {
            "" => write!(out, "the schema {}", self.what),
            place => write!(out, "the schema, at {place}: {}", self.what),
        }
    }
}

/// What comes of a part of a schema.
pub(super) type Result<T> = std::result::Result<T, SchemaFault>;
