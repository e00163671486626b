//! The tables of the code, from which the runtime makes classes, and the names that they must not share.

use crate::SdkFault;
use crate::schema::{Property, Type};

use super::literal::{self, table, tuple};
use super::modules::Module;
use super::names::{self, snake};
use super::sdk::{Sdk, Side, irregular};

/// Arguments of a call or of a class statement, those with nothing in them left out.
pub(super) struct Arguments(Vec<String>);

impl Arguments {
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    pub(super) fn always(&mut self, text: String) -> &mut Self {
        self.0.push(text);
        self
    }

    pub(super) fn table(&mut self, name: &str, entries: &[(String, String)]) -> &mut Self {
        if !entries.is_empty() {
            let text = table(entries.iter().map(|(key, value)| (key.as_str(), value.clone())), 4);
            self.0.push(format!("{name}={text}"));
        }
        self
    }

    pub(super) fn tuple(&mut self, name: &str, texts: &[String]) -> &mut Self {
        if !texts.is_empty() {
            self.0.push(format!("{name}={}", tuple(texts, 4)));
        }
        self
    }

    pub(super) fn text(&mut self, name: &str, text: &str) -> &mut Self {
        if !text.is_empty() {
            self.0.push(format!("{name}={}", literal::text(text)));
        }
        self
    }

    pub(super) fn within(&self, before: &str, after: &str) -> String {
        format!("{before}{}{after}", literal::wrapped('(', &self.0, ')', 0))
    }
}

impl Sdk<'_> {
    pub(super) fn fields(&self, arguments: &mut Arguments, fields: &[Property]) {
        let kinds = self.kinds_of(&fields.iter().collect::<Vec<_>>(), Side::Output);
        if kinds.is_empty() {
            arguments.always("fields={}".to_owned());
        }
        arguments
            .table("fields", &kinds)
            .table("names", &texts(irregular(fields)))
            .table("deprecated", &deprecated(fields));
    }

    pub(super) fn kinds_of(&self, properties: &[&Property], side: Side) -> Vec<(String, String)> {
        properties
            .iter()
            .map(|property| (snake(&property.name), literal::text(&self.property_kind(property, side))))
            .collect()
    }

    #[expect(clippy::type_complexity, reason = "two tables of the same kind")]
    pub(super) fn required_and_optional(
        &self,
        properties: &[Property],
        side: Side,
    ) -> (Vec<(String, String)>, Vec<(String, String)>) {
        let (required, optional): (Vec<&Property>, Vec<&Property>) =
            properties.iter().partition(|property| property.required);
        (self.kinds_of(&required, side), self.kinds_of(&optional, side))
    }

    /// What stands for what nobody gives.
    pub(super) fn defaults<'p>(&self, properties: impl IntoIterator<Item = &'p Property>) -> Vec<(String, String)> {
        let with_default = |property: &&Property| property.default.is_some() || !property.environment.is_empty();
        let entries = properties.into_iter().filter(with_default);
        entries.map(|property| (snake(&property.name), self.default(property))).collect()
    }

    pub(super) fn default(&self, property: &Property) -> String {
        let base = self.enum_base(&property.kind).unwrap_or(&property.kind);
        let value = property.default.as_ref().map(|value| match base {
            Type::Integer => literal::value(&literal::integer(value)),
            _ => literal::value(value),
        });
        if property.environment.is_empty() {
            return value.unwrap_or_else(|| "None".to_owned());
        }
        let read = match property.kind {
            Type::Bool => "get_env_bool",
            Type::Integer => "get_env_int",
            Type::Number => "get_env_float",
            _ => "get_env",
        };
        let otherwise = value.map(|value| format!(", {value}")).unwrap_or_default();
        format!("_u.Env(_u.{read}, {}{otherwise})", tuple(&property.environment, 8))
    }

    /// Two names of a schema can become one in Python.
    pub(super) fn distinct(&self, names: impl IntoIterator<Item = String>, place: &str) -> Result<(), SdkFault> {
        let mut known = std::collections::HashSet::new();
        for name in names {
            if name.is_empty() {
                return Err(self.fault(format!("{place} has a name with nothing in it")));
            }
            if known.contains(&name) {
                return Err(self.fault(format!("{place} has two names that are both '{name}' in Python")));
            }
            known.insert(name);
        }
        Ok(())
    }

    pub(super) fn check_class(&self, name: &str, token: &str) -> Result<(), SdkFault> {
        if names::is_name(name) {
            return Ok(());
        }
        Err(self.fault(format!("'{name}', the name of {token}, cannot be the name of a class in Python")))
    }
}

/// The first lines of a file: the runtime.
pub(super) fn head(module: &Module<'_>) -> String {
    format!("from {} import _utilities as _u\n", up_from(&module.path))
}

/// A relative import of the root: `...` for `core/v1`.
pub(super) fn up_from(path: &str) -> String {
    ".".repeat(1 + path.split('/').filter(|part| !part.is_empty()).count())
}

pub(super) fn required_first(properties: &[Property]) -> Vec<&Property> {
    let (required, optional): (Vec<&Property>, Vec<&Property>) =
        properties.iter().partition(|property| property.required);
    required.into_iter().chain(optional).collect()
}

pub(super) fn kinds_table(kinds: &[(String, String)]) -> String {
    table(kinds.iter().map(|(name, kind)| (name.as_str(), kind.clone())), 8)
}

pub(super) fn texts(entries: std::collections::BTreeMap<String, String>) -> Vec<(String, String)> {
    entries.into_iter().map(|(name, text)| (name, literal::text(&text))).collect()
}

pub(super) fn constants<'p>(properties: impl IntoIterator<Item = &'p Property>) -> Vec<(String, String)> {
    let constant = |property: &Property| {
        let value = property.constant.as_ref()?;
        let value = if property.kind == Type::Integer { literal::integer(value) } else { value.clone() };
        Some((snake(&property.name), literal::value(&value)))
    };
    properties.into_iter().filter_map(constant).collect()
}

pub(super) fn deprecated<'p>(properties: impl IntoIterator<Item = &'p Property>) -> Vec<(String, String)> {
    let deprecated = properties.into_iter().filter(|property| !property.deprecation.is_empty());
    deprecated.map(|property| (snake(&property.name), literal::text(&property.deprecation))).collect()
}
