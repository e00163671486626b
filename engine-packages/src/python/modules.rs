//! The modules of an SDK, and what is in each.

use std::collections::{BTreeMap, BTreeSet};

use crate::schema::{Function, Package, Resource, Shape, Token, TypeId};

use super::names;
use super::settings::Settings;
use super::shapes::Marks;

/// A package of Python below the root: a folder.
#[derive(Debug, Default)]
pub(super) struct Module<'a> {
    /// `core/v1`; empty at the root.
    pub path: String,
    pub resources: Vec<&'a Resource>,
    pub functions: Vec<&'a Function>,
    /// Objects that are given or found, and that nobody writes by hand.
    pub objects: Vec<TypeId>,
    pub enums: Vec<TypeId>,
    /// The last parts of the paths of modules below, those with nothing in them left out.
    pub children: BTreeSet<String>,
    pub is_config: bool,
}

impl Module<'_> {
    fn is_empty(&self) -> bool {
        self.resources.is_empty()
            && self.functions.is_empty()
            && self.objects.is_empty()
            && self.enums.is_empty()
            && self.children.is_empty()
            && !self.is_config
    }

    /// A file's name, beside the folders that are there.
    pub(super) fn file(&self, name: &str) -> String {
        if self.children.contains(name) { format!("{name}_") } else { name.to_owned() }
    }
}

/// The module of a token, as a path.
pub(super) fn path(token: &Token, settings: &Settings) -> String {
    if token.module.is_empty() {
        return String::new();
    }
    settings.module_name_overrides.get(&token.module).cloned().unwrap_or_else(|| names::module(&token.module))
}

/// All modules that hold something, by their paths.
pub(super) fn modules<'a>(package: &'a Package, settings: &Settings, marks: &[Marks]) -> BTreeMap<String, Module<'a>> {
    let mut found: BTreeMap<String, Module<'a>> = BTreeMap::new();
    found.entry(String::new()).or_default();
    if !package.config.is_empty() && !settings.has_files_named_as_classes() {
        found.entry("config".to_owned()).or_default().is_config = true;
    }
    // An extension has no provider of its own.
    let provider = Some(&package.provider).filter(|_| !package.is_extension);
    for resource in provider.into_iter().chain(&package.resources) {
        found.entry(path(&resource.token, settings)).or_default().resources.push(resource);
    }
    for function in package.functions.iter().filter(|function| !function.is_method) {
        found.entry(path(&function.token, settings)).or_default().functions.push(function);
    }
    for (at, definition) in package.types.iter().enumerate() {
        let uses = marks[at];
        let is_used = uses.input || uses.plain_input || uses.output;
        let module = path(&definition.token, settings);
        match &definition.shape {
            Shape::Object(_) if is_used => found.entry(module).or_default().objects.push(TypeId(at)),
            Shape::Enum { .. } if !definition.is_overlay => found.entry(module).or_default().enums.push(TypeId(at)),
            _ => {}
        }
    }
    for module in found.values_mut() {
        module
            .objects
            .sort_by(|one, other| package.definition(*one).token.text.cmp(&package.definition(*other).token.text));
        module
            .enums
            .sort_by(|one, other| package.definition(*one).token.text.cmp(&package.definition(*other).token.text));
    }
    with_parents(found)
}

fn with_parents(mut found: BTreeMap<String, Module<'_>>) -> BTreeMap<String, Module<'_>> {
    let paths: Vec<String> =
        found.iter().filter(|(_, module)| !module.is_empty()).map(|(path, _)| path.clone()).collect();
    for path in paths {
        let mut child = path.as_str();
        while !child.is_empty() {
            let (parent, name) = child.rsplit_once('/').unwrap_or(("", child));
            found.entry(parent.to_owned()).or_default().children.insert(name.to_owned());
            child = parent;
        }
    }
    for (path, module) in &mut found {
        module.path.clone_from(path);
    }
    found
}
