//! The code of packages, enumerations and configuration.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::SdkFault;
use crate::schema::{Property, Shape, Type};

use super::literal::{self, table, wrapped};
use super::modules::{Module, path};
use super::names::{self, snake};
use super::sdk::{Sdk, class_of};
use super::tables::head;

impl Sdk<'_> {
    /// What each file exports. Types for inputs are not among it: their file alone lists them.
    pub(super) fn exports(&self, module: &Module<'_>) -> BTreeMap<String, Vec<String>> {
        let mut found = BTreeMap::new();
        let enums: Vec<String> =
            module.enums.iter().map(|id| names::class(&self.package.definition(*id).token.name)).collect();
        if !enums.is_empty() {
            found.insert("_enums".to_owned(), enums);
        }
        for resource in module.resources.iter().filter(|resource| !resource.is_overlay) {
            found.insert(self.resource_file(resource), vec![self.args_name(resource), class_of(resource)]);
        }
        for function in module.functions.iter().filter(|function| !function.is_overlay) {
            let name = snake(&names::class(&function.token.name));
            found.insert(module.file(&name), self.function_members(function));
        }
        found
    }

    /// The members of a package, by the files that they are in.
    pub(super) fn members(&self, module: &Module<'_>) -> BTreeMap<String, Vec<String>> {
        let mut found = self.exports(module);
        // As in the official SDKs, types for inputs hide what has the same name.
        let inputs: Vec<String> = self.input_classes(module).into_iter().map(|(name, _, _)| name).collect();
        for members in found.values_mut() {
            members.retain(|member| !inputs.contains(member));
        }
        found
    }

    /// A package imports its files when something of them is asked for.
    pub(super) fn package_code(&self, module: &Module<'_>) -> String {
        let mut entries: Vec<(String, String)> =
            self.members(module).into_iter().map(|(file, members)| (file, literal::text(&members.join(" ")))).collect();
        for (file, is_there) in
            [("_inputs", !self.input_classes(module).is_empty()), ("outputs", !self.output_classes(module).is_empty())]
        {
            if is_there {
                entries.push((file.to_owned(), "\"\"".to_owned()));
            }
        }
        let files = table(entries.iter().map(|(file, members)| (file.as_str(), members.clone())), 0);
        let mut code = head(module);
        let children: Vec<String> = module.children.iter().cloned().collect();
        let children = if children.is_empty() { String::new() } else { format!(", {}", literal::tuple(&children, 0)) };
        let _ = writeln!(code, "\n_u.package(__name__, {files}{children})");
        if module.path.is_empty() {
            let _ = writeln!(
                code,
                "_u.register({}{})",
                self.registered(),
                if self.package.is_extension { ", provider=False" } else { "" }
            );
        }
        code
    }

    /// Where the classes of each module of tokens are.
    fn registered(&self) -> String {
        let mut found: BTreeMap<&str, String> = BTreeMap::new();
        for resource in self.package.resources.iter().filter(|resource| !resource.is_overlay) {
            let module = path(&resource.token, &self.settings).replace('/', ".");
            let place = if module.is_empty() { module } else { format!(".{module}") };
            found.insert(&resource.token.raw_module, literal::text(&place));
        }
        table(found, 0)
    }

    pub(super) fn enums_code(&self, module: &Module<'_>) -> Result<String, SdkFault> {
        let mut entries = Vec::new();
        for id in &module.enums {
            let definition = self.package.definition(*id);
            let Shape::Enum { base, .. } = &definition.shape else { continue };
            let name = names::class(&definition.token.name);
            self.check_class(&name, &definition.token.text)?;
            let kind = match base {
                Type::Integer => "int",
                Type::Number => "float",
                Type::Bool => "bool",
                _ => "str",
            };
            let members = self.enum_members(*id)?;
            let members = table(members.iter().map(|(name, value)| (name.as_str(), value.clone())), 4);
            let parts = [literal::text(&definition.token.text), kind.to_owned(), members];
            entries.push(format!("{}: {}", literal::text(&name), wrapped('(', &parts, ')', 4)));
        }
        let mut code = head(module);
        let _ = writeln!(code, "\n_u.enums(globals(), {})", wrapped('{', &entries, '}', 0));
        Ok(code)
    }

    /// Names and values of an enumeration, as Python writes them.
    pub(super) fn enum_members(&self, id: crate::schema::TypeId) -> Result<Vec<(String, String)>, SdkFault> {
        let definition = self.package.definition(id);
        let Shape::Enum { base, values } = &definition.shape else { return Ok(Vec::new()) };
        let mut members = Vec::new();
        for given in values {
            let value = if *base == Type::Integer { literal::integer(&given.value) } else { given.value.clone() };
            let called = match (given.name.as_str(), &value) {
                ("", serde_json::Value::String(text)) => text.clone(),
                ("", other) => other.to_string(),
                (name, _) => name.to_owned(),
            };
            let enumeration = names::class(&definition.token.name);
            let name = names::member(&called, &enumeration).ok_or_else(|| {
                self.fault(format!("'{called}' of {} cannot be the name of a member in Python", definition.token.text))
            })?;
            members.push((name, literal::value(&value)));
        }
        let place = format!("the enumeration {}", definition.token.text);
        self.distinct(members.iter().map(|(name, _)| name.clone()), &place)?;
        Ok(members)
    }

    /// `config/vars`: a class whose properties read the configuration.
    pub(super) fn config_code(&self, module: &Module<'_>) -> Result<String, SdkFault> {
        let config = &self.package.config;
        self.distinct(config.iter().map(|variable| snake(&variable.name)), "the configuration")?;
        let entries: Vec<(String, String)> =
            config.iter().map(|variable| (snake(&variable.name), self.config_variable(variable))).collect();
        let entries = table(entries.iter().map(|(name, spec)| (name.as_str(), spec.clone())), 0);
        let mut code = head(module);
        let _ = writeln!(code, "\n__config__ = _u.pulumi.Config({})", literal::text(&self.package.name));
        let _ = writeln!(code, "_ExportableConfig = _u.config(__config__, {entries})");
        Ok(code)
    }

    fn config_variable(&self, variable: &Property) -> String {
        let read = match variable.kind {
            Type::Bool => "get_bool",
            Type::Integer => "get_int",
            Type::Number => "get_float",
            _ => "get",
        };
        format!("(\"{read}\", {}, {})", literal::text(&variable.name), self.default(variable))
    }
}

/// The package `config` is a class: its variables are read each time.
pub(super) fn config_package(has_outputs: bool) -> String {
    let outputs = if has_outputs { "from . import outputs\n" } else { "" };
    format!(
        "import sys\n\n{outputs}from .vars import _ExportableConfig\n\nsys.modules[__name__].__class__ = _ExportableConfig\n"
    )
}
