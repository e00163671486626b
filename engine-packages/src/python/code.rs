//! The code of resources, functions and types: tables that the runtime makes classes of.

use std::fmt::Write as _;

use crate::SdkFault;
use crate::schema::{Property, Resource, Shape, Type, TypeId};

use super::literal::{self, table, tuple};
use super::modules::Module;
use super::names::{self, argument, snake};
use super::sdk::{Sdk, Side, class_of, irregular};

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
    /// A resource and the class of its inputs.
    pub(super) fn resource_code(&self, module: &Module<'_>, resource: &Resource) -> Result<String, SdkFault> {
        let (class, args) = (class_of(resource), self.args_name(resource));
        let mut code = head(module);
        let _ = write!(code, "\n__all__ = [\"{args}\", \"{class}\"]\n\n\n");
        let mut given = Arguments::new();
        given.always("_u.Args".to_owned());
        self.shape(&mut given, &resource.inputs, Side::Input);
        let _ = write!(code, "{}\n    pass\n\n\n", given.within(&format!("class {args}"), ":"));

        let outputs = self.outputs_of(resource);
        let base = match (resource.is_provider, resource.is_component) {
            (true, _) => "_u.Provider",
            (false, true) => "_u.Component",
            (false, false) => "_u.Custom",
        };
        let state = resource.state.as_deref().filter(|state| base == "_u.Custom" && !state.is_empty());
        let all = resource.inputs.iter().chain(outputs.iter().copied()).chain(state.unwrap_or_default());
        let mut facts = Arguments::new();
        facts.always(base.to_owned()).text("token", &resource.token.text).always(format!("args={args}"));
        facts.table("outputs", &self.kinds_of(&outputs, Side::Output));
        if let Some(state) = state {
            facts.table("state", &self.kinds_of(&state.iter().collect::<Vec<_>>(), Side::Input));
        }
        facts.table("names", &texts(irregular(all.clone())));
        facts.table("deprecated", &deprecated(outputs.iter().copied()));
        let named =
            |properties: &[&Property], keep: &dyn Fn(&Property) -> bool, name: fn(&str) -> String| -> Vec<String> {
                properties.iter().filter(|property| keep(property)).map(|property| name(&property.name)).collect()
            };
        let inputs: Vec<&Property> = resource.inputs.iter().collect();
        facts.tuple("secrets", &named(&outputs, &|property| property.secret, str::to_owned));
        facts.tuple("secret_inputs", &named(&inputs, &|property| property.secret, snake));
        let is_json = |property: &Property| resource.is_provider && !self.is_text(&property.kind);
        facts.tuple("json", &named(&inputs, &is_json, snake));
        facts.tuple("aliases", &resource.aliases);
        facts.tuple("replace", &super::paths::replacing(self.package, &outputs));
        let renamed = all.map(|property| (snake(&property.name), argument(&property.name)));
        let renamed: std::collections::BTreeMap<_, _> = renamed.filter(|(name, argument)| name != argument).collect();
        facts.table("renamed", &texts(renamed));
        if !self.settings.has_files_named_as_classes() {
            facts.text("deprecation", &resource.deprecation);
        }
        let methods = self.methods_code(resource)?;
        let _ = write!(code, "{}\n{methods}", facts.within(&format!("class {class}"), ":"));
        Ok(code)
    }

    /// Classes of inputs, each with its dictionary.
    pub(super) fn inputs_code(&self, module: &Module<'_>) -> Result<String, SdkFault> {
        let more = if self.settings.has_dictionaries() { "" } else { ", dicts=False" };
        self.types_code(module, &self.input_classes(module), "inputs", more)
    }

    /// Classes of what is nested in outputs.
    pub(super) fn outputs_code(&self, module: &Module<'_>) -> Result<String, SdkFault> {
        self.types_code(module, &self.output_classes(module), "outputs", "")
    }

    fn types_code(
        &self,
        module: &Module<'_>,
        classes: &[(String, TypeId, Side)],
        what: &str,
        more: &str,
    ) -> Result<String, SdkFault> {
        let mut entries = Vec::new();
        for (name, id, side) in classes {
            let Shape::Object(properties) = &self.package.definition(*id).shape else { continue };
            self.check_class(name, &self.package.definition(*id).token.text)?;
            let place = format!("the type {}", self.package.definition(*id).token.text);
            self.distinct(properties.iter().map(|property| snake(&property.name)), &place)?;
            let (required, optional) = self.required_and_optional(properties, *side);
            let mut parts = vec![kinds_table(&required), kinds_table(&optional)];
            let rest: Vec<String> = self.rarer(properties);
            if !rest.is_empty() {
                parts.push(literal::wrapped('{', &rest, '}', 8));
            }
            entries.push(format!("{}: {}", literal::text(name), literal::wrapped('(', &parts, ')', 4)));
        }
        let mut code = head(module);
        let _ = writeln!(code, "\n_u.{what}(globals(), {}{more})", literal::wrapped('{', &entries, '}', 0));
        Ok(code)
    }

    /// What only some types say: `"defaults": {...}`.
    fn rarer(&self, properties: &[Property]) -> Vec<String> {
        [
            ("names", texts(irregular(properties))),
            ("defaults", self.defaults(properties)),
            ("constants", constants(properties)),
            ("deprecated", deprecated(properties)),
        ]
        .into_iter()
        .filter(|(_, entries)| !entries.is_empty())
        .map(|(name, entries)| {
            format!(
                "{}: {}",
                literal::text(name),
                table(entries.iter().map(|(key, value)| (key.as_str(), value.clone())), 8)
            )
        })
        .collect()
    }

    fn shape(&self, arguments: &mut Arguments, properties: &[Property], side: Side) {
        let (required, optional) = self.required_and_optional(properties, side);
        if required.is_empty() {
            arguments.always("required={}".to_owned());
        }
        arguments.table("required", &required).table("optional", &optional);
        arguments.table("names", &texts(irregular(properties))).table("defaults", &self.defaults(properties));
        arguments.table("constants", &constants(properties)).table("deprecated", &deprecated(properties));
    }

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

    fn kinds_of(&self, properties: &[&Property], side: Side) -> Vec<(String, String)> {
        properties
            .iter()
            .map(|property| (snake(&property.name), literal::text(&self.property_kind(property, side))))
            .collect()
    }

    #[expect(clippy::type_complexity, reason = "two tables of the same kind")]
    fn required_and_optional(
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

fn kinds_table(kinds: &[(String, String)]) -> String {
    table(kinds.iter().map(|(name, kind)| (name.as_str(), kind.clone())), 8)
}

pub(super) fn texts(entries: std::collections::BTreeMap<String, String>) -> Vec<(String, String)> {
    entries.into_iter().map(|(name, text)| (name, literal::text(&text))).collect()
}

fn constants<'p>(properties: impl IntoIterator<Item = &'p Property>) -> Vec<(String, String)> {
    let constant = |property: &Property| {
        let value = property.constant.as_ref()?;
        let value = if property.kind == Type::Integer { literal::integer(value) } else { value.clone() };
        Some((snake(&property.name), literal::value(&value)))
    };
    properties.into_iter().filter_map(constant).collect()
}

fn deprecated<'p>(properties: impl IntoIterator<Item = &'p Property>) -> Vec<(String, String)> {
    let deprecated = properties.into_iter().filter(|property| !property.deprecation.is_empty());
    deprecated.map(|property| (snake(&property.name), literal::text(&property.deprecation))).collect()
}
