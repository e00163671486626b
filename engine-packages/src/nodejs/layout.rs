//! Which modules and files an SDK has, and what is in each.

use std::collections::BTreeMap;

use super::files::is_safe as is_folder;
use super::names::{camel, identifier, title};
use super::settings::Settings;
use crate::schema::{Function, Package, Resource, Shape, Token, TypeId};

/// The modules, by name.
pub(super) type Modules = BTreeMap<String, Module>;

/// What a folder of the SDK has.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// The name in types: `apps/v1`. At the top it is empty.
    pub name: String,
    /// The folder: the name in lower case.
    pub folder: String,
    /// Places in the package's resources.
    pub resources: Vec<usize>,
    /// Whether the class of explicit providers is here.
    pub has_provider: bool,
    /// Places in the package's functions.
    pub functions: Vec<usize>,
    pub enums: Vec<TypeId>,
    /// The last parts of the folders of modules within, sorted.
    pub children: Vec<String>,
    /// Whether the module or one within has enumerations.
    pub has_enums: bool,
}

impl Module {
    /// The way from the folder to the top: `.`, `..`, `../..`.
    pub(super) fn up(&self) -> String {
        if self.folder.is_empty() { ".".to_owned() } else { vec![".."; self.folder.split('/').count()].join("/") }
    }

    /// A file of the folder.
    pub(super) fn path(&self, file: &str) -> String {
        if self.folder.is_empty() { file.to_owned() } else { format!("{}/{file}", self.folder) }
    }

    /// The file of a class or function, without its ending.
    pub(super) fn file(&self, class: &str, package: &Package) -> String {
        let file = camel(class);
        let is_taken = match file.as_str() {
            "index" => true,
            "input" | "output" => self.name == "types",
            "utilities" => self.name.is_empty(),
            "vars" => !package.config.is_empty(),
            other => self.children.iter().any(|child| child == other),
        };
        if is_taken { file + "_" } else { file }
    }
}

/// The name of a class.
pub(super) fn class_of(resource: &Resource) -> String {
    if resource.is_provider { "Provider".to_owned() } else { title(&resource.token.name) }
}

/// The name of a function.
pub(super) fn function_of(function: &Function) -> String {
    camel(&title(&function.token.name))
}

/// The namespaces of a module in types: each is an identifier.
pub(super) fn namespaces(module: &str) -> impl Iterator<Item = String> {
    module.split(['/', '.']).filter(|part| !part.is_empty()).map(identifier)
}

/// The module of a token.
pub(super) fn module_of<'a>(token: &'a Token, settings: &'a Settings) -> &'a str {
    settings.module(&token.module)
}

/// Groups what the package has.
pub(super) fn modules(package: &Package, settings: &Settings) -> Result<Modules, String> {
    let mut found = Modules::new();
    let top = reach(&mut found, "", "the package")?;
    top.has_provider = !package.is_extension;
    if !package.config.is_empty() && !settings.is_kubernetes() {
        reach(&mut found, "config", "config")?;
    }
    for (at, resource) in package.resources.iter().enumerate().filter(|(_, resource)| !resource.is_overlay) {
        let module = module_of(&resource.token, settings);
        reach(&mut found, module, &resource.token.text)?.resources.push(at);
    }
    for (at, function) in package.functions.iter().enumerate() {
        let module = reach(&mut found, module_of(&function.token, settings), &function.token.text)?;
        if !function.is_method && !function.is_overlay {
            module.functions.push(at);
        }
    }
    if found.contains_key("types") {
        return Err("the module 'types' is kept for the types of inputs and outputs; call it otherwise".to_owned());
    }
    enums(package, settings, &mut found)?;
    let has_types = package.types.iter().any(|found| !found.is_overlay || matches!(found.shape, Shape::Object(_)));
    if has_types {
        reach(&mut found, "types", "types")?;
    }
    link(&mut found)?;
    Ok(found)
}

fn enums(package: &Package, settings: &Settings, found: &mut Modules) -> Result<(), String> {
    let mut places: Vec<usize> = (0..package.types.len()).collect();
    places.sort_by(|one, other| package.types[*one].token.text.cmp(&package.types[*other].token.text));
    for at in places {
        let definition = &package.types[at];
        if definition.is_overlay || !matches!(definition.shape, Shape::Enum { .. }) {
            continue;
        }
        let name = module_of(&definition.token, settings).to_owned();
        reach(found, &name, &definition.token.text)?.enums.push(TypeId(at));
        let mut rest = name.as_str();
        loop {
            if let Some(module) = found.get_mut(rest) {
                module.has_enums = true;
            }
            if rest.is_empty() {
                break;
            }
            rest = rest.rsplit_once('/').map_or("", |(parent, _)| parent);
        }
    }
    Ok(())
}

/// The module of a name, made with those that it lies in.
fn reach<'a>(found: &'a mut Modules, name: &str, place: &str) -> Result<&'a mut Module, String> {
    let parts = if name.is_empty() { Vec::new() } else { name.split('/').collect::<Vec<_>>() };
    if let Some(part) = parts.iter().find(|part| !is_folder(part)) {
        return Err(format!(
            "the part '{part}' of the module '{name}' of {place} cannot be a folder; language.nodejs.moduleToPackage \
             can give the module another name"
        ));
    }
    for length in 0..parts.len() {
        let parent = parts[..length].join("/");
        found.entry(parent.clone()).or_insert_with(|| named(&parent));
    }
    Ok(found.entry(name.to_owned()).or_insert_with(|| named(name)))
}

fn named(name: &str) -> Module {
    Module { name: name.to_owned(), folder: name.to_lowercase(), ..Module::default() }
}

/// Tells each module which ones lie in it.
fn link(found: &mut Modules) -> Result<(), String> {
    let mut folders = BTreeMap::new();
    for module in found.values() {
        if let Some(other) = folders.insert(module.folder.clone(), module.name.clone()) {
            return Err(format!("the modules '{other}' and '{}' have the same folder", module.name));
        }
    }
    for name in folders.into_values().filter(|name| !name.is_empty()) {
        let (parent, last) = name.rsplit_once('/').unwrap_or(("", &name));
        if let Some(parent) = found.get_mut(parent) {
            parent.children.push(last.to_lowercase());
            parent.children.sort();
        }
    }
    Ok(())
}
