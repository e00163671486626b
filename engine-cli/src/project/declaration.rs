//! What Pulumi.yaml declares about configuration values (docs/rules 11).

use serde_norway::{Mapping, Value};

use super::Reader;
use crate::config_key::full_key;
use crate::failure::Result;
use crate::yaml::describe;

/// The declared type of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text.
    String,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A list of values of one type.
    Array(Box<Kind>),
    /// A mapping.
    Object,
}

impl Kind {
    /// The name in the file, with that of the items.
    #[must_use]
    pub(crate) fn name(&self) -> String {
        match self {
            Kind::String => "string".to_owned(),
            Kind::Integer => "integer".to_owned(),
            Kind::Boolean => "boolean".to_owned(),
            Kind::Array(items) => format!("array of {}", items.name()),
            Kind::Object => "object".to_owned(),
        }
    }

    /// Is this a value of that type? `nested`: it stands inside a list or mapping, where numbers are not texts.
    #[must_use]
    pub(crate) fn admits(&self, value: &Value, nested: bool) -> bool {
        match (self, value) {
            (Kind::String, Value::String(_)) | (Kind::Boolean, Value::Bool(_)) | (Kind::Object, Value::Mapping(_)) => {
                true
            }
            (Kind::String, Value::Number(_) | Value::Bool(_)) => !nested,
            (Kind::Integer, Value::Number(number)) => number.is_i64() || number.is_u64(),
            (Kind::Integer, Value::String(text)) => text.parse::<i64>().is_ok(),
            (Kind::Boolean, Value::String(text)) => matches!(text.as_str(), "true" | "false"),
            (Kind::Array(items), Value::Sequence(values)) => values.iter().all(|value| items.admits(value, true)),
            _ => false,
        }
    }
}

/// One entry of `config` in the project file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Declaration {
    /// The key as it stands in the file.
    pub(crate) written_key: String,
    /// The key with its namespace.
    pub(crate) key: String,
    /// The type, where one is declared.
    pub(crate) kind: Option<Kind>,
    /// What the value is for.
    pub(crate) description: String,
    /// The value of stacks that have none of their own (`default` or `value`).
    pub(crate) default: Option<Value>,
    /// Must the stack's value be encrypted?
    pub(crate) secret: bool,
}

impl Declaration {
    /// Must a stack have a value for it?
    #[must_use]
    pub(crate) fn is_required(&self) -> bool {
        self.kind.is_some() && self.default.is_none()
    }
}

/// Reads the `config` of a project file.
pub(super) fn read_all(reader: &Reader<'_>, root: &Value, project: &str) -> Result<Vec<Declaration>> {
    let entries = match root.get("config") {
        // A text is the old name of `stackConfigDir`.
        None | Some(Value::Null | Value::String(_)) => return Ok(Vec::new()),
        Some(Value::Mapping(entries)) => entries,
        Some(other) => {
            return Err(reader.failure(&["config"], &format!("`config` must be a mapping; it is {}", describe(other))));
        }
    };
    entries
        .iter()
        .map(|(key, value)| {
            let Some(written_key) = key.as_str() else {
                return Err(reader.failure(&["config"], "the keys of `config` must be texts"));
            };
            read_one(reader, written_key, value, project)
        })
        .collect()
}

fn read_one(reader: &Reader<'_>, written_key: &str, value: &Value, project: &str) -> Result<Declaration> {
    let at = ["config", written_key];
    let fail = |message: String| reader.failure(&at, &message);
    let key = full_key(project, written_key).map_err(&fail)?;
    let is_own = key.split(':').next() == Some(project);
    let plain = Declaration {
        written_key: written_key.to_owned(),
        key,
        kind: None,
        description: String::new(),
        default: Some(value.clone()),
        secret: false,
    };
    let Value::Mapping(members) = value else { return Ok(plain) };
    if !is_own {
        return foreign(plain, members).ok_or_else(|| {
            fail(format!("`{written_key}` is of another namespace: only its `value` can be given here"))
        });
    }
    let text = |name: &str| members.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = match members.get("type") {
        None => None,
        Some(kind) => {
            Some(read_kind(kind, members.get("items")).map_err(|why| fail(format!("`{written_key}`: {why}")))?)
        }
    };
    if members.contains_key("default") && members.contains_key("value") {
        return Err(fail(format!("`{written_key}` has both a `default` and a `value`; keep one of them")));
    }
    let default = members.get("default").or_else(|| members.get("value")).cloned();
    if let (Some(kind), Some(default)) = (&kind, &default)
        && !kind.admits(default, false)
    {
        return Err(fail(format!(
            "the default of `{written_key}` must be of type {}; it is {}",
            kind.name(),
            describe(default)
        )));
    }
    if kind.is_none() && default.is_none() && !members.contains_key("secret") {
        return Err(fail(format!("`{written_key}` has neither a `type` nor a `default` nor a `value`")));
    }
    Ok(Declaration {
        kind,
        default,
        description: text("description").unwrap_or_default(),
        secret: members.get("secret").and_then(Value::as_bool).unwrap_or(false),
        ..plain
    })
}

fn foreign(plain: Declaration, members: &Mapping) -> Option<Declaration> {
    let value = members.get("value")?;
    (members.len() == 1).then(|| Declaration { default: Some(value.clone()), ..plain })
}

fn read_kind(kind: &Value, items: Option<&Value>) -> std::result::Result<Kind, String> {
    match kind.as_str() {
        Some("string") => Ok(Kind::String),
        Some("integer") => Ok(Kind::Integer),
        Some("boolean") => Ok(Kind::Boolean),
        Some("object") => Ok(Kind::Object),
        Some("array") => {
            let items = items.and_then(Value::as_mapping).ok_or("an array needs `items` with their `type`")?;
            let below = items.get("type").ok_or("`items` has no `type`")?;
            Ok(Kind::Array(Box::new(read_kind(below, items.get("items"))?)))
        }
        Some(other) => Err(format!("`{other}` is not a type; there are string, integer, boolean, array and object")),
        None => Err(format!("`type` must be a text; it is {}", describe(kind))),
    }
}
