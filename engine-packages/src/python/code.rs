//! The code of resources, functions and types: tables that the runtime makes classes of.

use std::fmt::Write as _;

use crate::SdkFault;
use crate::schema::{Property, Resource, Shape, TypeId};

use super::literal::{self, table};
use super::modules::Module;
use super::names::{argument, snake};
use super::sdk::{Sdk, Side, class_of, irregular};
use super::tables::{Arguments, constants, deprecated, head, kinds_table, texts};

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
}
