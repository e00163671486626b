//! The values of a document, each with its place.

use serde_json::Value as Json;

/// Where a value begins; counted from 1, and 0 where code has made it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// What can stand in a document. A number keeps its text: `1.10` stays `1.10`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Nothing,
    Truth(bool),
    Number(String),
    Text(String),
    List(Vec<Node>),
    Mapping(Vec<Entry>),
}

/// A member of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) node: Node,
}

impl Node {
    /// A value that code has made.
    pub(crate) fn of_json(json: Json) -> Self {
        let place = Place::default();
        let value = match json {
            Json::Null => Value::Nothing,
            Json::Bool(truth) => Value::Truth(truth),
            Json::Number(number) => Value::Number(number.to_string()),
            Json::String(text) => Value::Text(text),
            Json::Array(items) => Value::List(items.into_iter().map(Self::of_json).collect()),
            Json::Object(members) => Value::Mapping(
                members.into_iter().map(|(name, node)| Entry { name, place, node: Self::of_json(node) }).collect(),
            ),
        };
        Self { place, value }
    }

    /// The same as JSON, with what `text` makes of each text.
    pub(crate) fn to_json(&self, text: &mut dyn FnMut(&str) -> Json) -> Json {
        match &self.value {
            Value::Nothing => Json::Null,
            Value::Truth(truth) => (*truth).into(),
            // A number that JSON does not know (`0x10`, `.5`) stays the text that it is.
            Value::Number(number) => serde_json::from_str(number).unwrap_or_else(|_| Json::String(number.clone())),
            Value::Text(content) => text(content),
            Value::List(items) => items.iter().map(|item| item.to_json(text)).collect(),
            Value::Mapping(entries) => {
                entries.iter().map(|entry| (entry.name.clone(), entry.node.to_json(text))).collect()
            }
        }
    }

    /// A single value as the text that stands there.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) | Value::Number(text) => Some(text),
            Value::Truth(true) => Some("true"),
            Value::Truth(false) => Some("false"),
            Value::Nothing | Value::List(_) | Value::Mapping(_) => None,
        }
    }

    /// A value in words, for messages.
    pub(crate) fn described(&self) -> &'static str {
        match &self.value {
            Value::Nothing => "empty",
            Value::Truth(_) => "a truth value",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Mapping(_) => "a mapping",
        }
    }
}
