//! A package with all that its files have to know of each other.

use std::collections::BTreeMap;

use crate::SdkFault;
use crate::schema::{External, Package, Property, Resource, Shape, Token, Type, TypeId};

use super::modules::{Module, modules, path};
use super::names;
use super::settings::Settings;
use super::shapes::{Marks, marks};

/// How a value is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Given, with outputs in it.
    Input,
    /// Given to a function: without outputs in it.
    Plain,
    /// Found in a resource or in what a function gives.
    Output,
}

/// Where a class is: `inputs` of `core/v1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The path of the module.
    pub module: String,
    /// The file's name.
    pub file: String,
    /// The class.
    pub name: String,
}

/// A package that is being written.
#[derive(Debug)]
pub(super) struct Sdk<'a> {
    pub package: &'a Package,
    pub settings: Settings,
    pub marks: Vec<Marks>,
    pub modules: BTreeMap<String, Module<'a>>,
    /// `pulumi_random`.
    pub root: String,
}

impl<'a> Sdk<'a> {
    pub(super) fn of(package: &'a Package) -> Self {
        let settings = Settings::of(package);
        let marks = marks(package);
        let modules = modules(package, &settings, &marks);
        let root = match settings.package_name.as_str() {
            "" => names::package(&package.namespace, &package.name),
            name => name.to_owned(),
        };
        Self { package, settings, marks, modules, root }
    }

    pub(super) fn fault(&self, what: impl Into<String>) -> SdkFault {
        SdkFault { language: "Python", package: self.package.name.clone(), what: what.into() }
    }

    /// The class of an object, by its use.
    pub(super) fn object_name(&self, id: TypeId, side: Side) -> String {
        let name = names::class(&self.package.definition(id).token.name);
        let with_suffix = if self.settings.has_names_by_use() { side != Side::Output } else { side == Side::Input };
        if with_suffix {
            return name + "Args";
        }
        let is_result = self.settings.has_names_by_use() && self.marks[id.0].function;
        if is_result { name + "Result" } else { name }
    }

    /// Where the class of a type is.
    pub(super) fn type_place(&self, id: TypeId, side: Side) -> Place {
        let definition = self.package.definition(id);
        let module = path(&definition.token, &self.settings);
        match definition.shape {
            Shape::Enum { .. } => {
                Place { module, file: "_enums".to_owned(), name: names::class(&definition.token.name) }
            }
            Shape::Object(_) => {
                let file = if side == Side::Output { "outputs" } else { "_inputs" };
                Place { module, file: file.to_owned(), name: self.object_name(id, side) }
            }
        }
    }

    /// Where the class of a resource is; `None`: others write it.
    pub(super) fn resource_place(&self, token: &Token) -> Option<Place> {
        let resource = self.package.resources.iter().find(|resource| resource.token.text == token.text)?;
        (!resource.is_overlay).then(|| self.place_of(resource))
    }

    pub(super) fn place_of(&self, resource: &Resource) -> Place {
        let module = path(&resource.token, &self.settings);
        let file = self.resource_file(resource);
        Place { module, file, name: class_of(resource) }
    }

    /// The file of a resource, without its ending.
    pub(super) fn resource_file(&self, resource: &Resource) -> String {
        let class = names::class(&resource.token.name);
        let file = if resource.is_provider {
            "provider".to_owned()
        } else if self.settings.has_files_named_as_classes() {
            class
        } else {
            names::snake(&class)
        };
        let module = path(&resource.token, &self.settings);
        self.modules.get(&module).map_or(file.clone(), |module| module.file(&file))
    }

    /// The name of a resource's class of inputs: a type may have the usual one.
    pub(super) fn args_name(&self, resource: &Resource) -> String {
        let usual = class_of(resource) + "Args";
        let module = self.modules.get(&path(&resource.token, &self.settings));
        let is_taken = module.is_some_and(|module| {
            module.objects.iter().any(|id| {
                let uses = self.marks[id.0];
                (uses.input && self.object_name(*id, Side::Input) == usual)
                    || (uses.plain_input && self.object_name(*id, Side::Plain) == usual)
            })
        });
        if is_taken { class_of(resource) + "InitArgs" } else { usual }
    }

    /// Objects that have a class of their own among the inputs, with the shape of that class.
    pub(super) fn input_classes(&self, module: &Module<'_>) -> Vec<(String, TypeId, Side)> {
        let mut found: Vec<(String, TypeId, Side)> = Vec::new();
        for id in module.objects.iter().filter(|id| !self.package.definition(**id).is_overlay) {
            let uses = self.marks[id.0];
            for (is_used, side) in [(uses.plain_input, Side::Plain), (uses.input, Side::Input)] {
                let name = self.object_name(*id, side);
                if is_used {
                    // Two shapes with one name: the input shape takes everything that the other one takes.
                    found.retain(|(known, _, _)| *known != name);
                    found.push((name, *id, side));
                }
            }
        }
        found
    }

    /// Objects that have a class among the outputs.
    pub(super) fn output_classes(&self, module: &Module<'_>) -> Vec<(String, TypeId, Side)> {
        let mut found: Vec<(String, TypeId, Side)> = Vec::new();
        for id in module.objects.iter().filter(|id| !self.package.definition(**id).is_overlay) {
            if self.marks[id.0].output {
                let name = self.object_name(*id, Side::Output);
                found.retain(|(known, _, _)| *known != name);
                found.push((name, *id, Side::Output));
            }
        }
        found
    }

    /// The provider has what it is given as texts only.
    pub(super) fn outputs_of(&self, resource: &'a Resource) -> Vec<&'a Property> {
        let is_text = |property: &&Property| !resource.is_provider || self.is_text(&property.kind);
        resource.outputs.iter().filter(is_text).collect()
    }

    /// Whether its values are texts.
    pub(super) fn is_text(&self, kind: &Type) -> bool {
        match kind {
            Type::String => true,
            Type::Token(kind) => self.is_text(kind),
            Type::Defined(id) => {
                matches!(&self.package.definition(*id).shape, Shape::Enum { base, .. } if *base == Type::String)
            }
            _ => false,
        }
    }

    /// An enumeration's type of values, for what is one.
    pub(super) fn enum_base(&self, kind: &Type) -> Option<&'a Type> {
        let Type::Defined(id) = kind else { return None };
        match &self.package.definition(*id).shape {
            Shape::Enum { base, .. } => Some(base),
            Shape::Object(_) => None,
        }
    }
}

/// The class of a resource.
pub(super) fn class_of(resource: &Resource) -> String {
    if resource.is_provider {
        "Provider".to_owned()
    } else {
        names::beside_keywords(&names::class(&resource.token.name))
    }
}

/// The package of Python that another package is.
pub(super) fn foreign_package(external: &External) -> String {
    names::package("", &external.package)
}

/// The module of a type in another package. Nothing here knows that package's own rule. Nearly all follow one of two: a module for each type
/// (`index/randomPet` for `RandomPet`), or the whole of what the token says.
pub(super) fn foreign_module(external: &External) -> String {
    let raw = external.token.raw_module.as_str();
    let module = match raw.rsplit_once('/') {
        Some((module, last)) if last.eq_ignore_ascii_case(&external.token.name) => module,
        _ => raw,
    };
    if module == "index" || module == "providers" { String::new() } else { names::module(module).replace('/', ".") }
}

/// Properties whose name on the wire does not follow from the one in Python.
pub(super) fn irregular<'p>(properties: impl IntoIterator<Item = &'p Property>) -> BTreeMap<String, String> {
    properties
        .into_iter()
        .map(|property| (names::snake(&property.name), property.name.clone()))
        .filter(|(name, wire)| names::wire_by_rule(name) != *wire)
        .collect()
}

/// A constant as a type that has this one value, where Python has such a type.
pub(super) fn constant_of(property: &Property) -> Option<String> {
    let constant = property.constant.as_ref()?;
    match property.kind {
        Type::Bool | Type::String => Some(super::literal::value(constant)),
        Type::Integer => Some(super::literal::value(&super::literal::integer(constant))),
        _ => None,
    }
}
