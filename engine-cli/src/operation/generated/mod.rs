//! Code that declares imported resources, in the program's language.

mod constructors;
mod packages;
mod source_text;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use maloko_core::event::{Event, EventSink, Op};
use maloko_core::provider::StoredProvider;
use maloko_core::resource_state::ResourceState;
use maloko_core::served_by::{ServedBy, served_by};

use crate::language_host::{Language, ResourceClass};

use source_text::{capitalised, identifier, object, options, provider_expression, quoted};

/// Keeps the resources of the objects that an import took over.
#[derive(Default)]
pub(super) struct ImportedResources(Mutex<Vec<Arc<ResourceState>>>);

impl EventSink for ImportedResources {
    fn emit(&self, event: Event) {
        if let Event::StepDone(step) = event
            && step.op == Op::Import
            && let Some(resource) = step.new
        {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(resource);
        }
    }
}

impl ImportedResources {
    /// The code; empty when nothing was imported. `classes` are those that the program made resources of.
    pub(super) fn code(&self, language: Language, classes: &[ResourceClass]) -> String {
        let mut resources = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        resources.retain(|resource| resource.custom);
        // Objects are read side by side: without an order the code would be another one each time.
        resources.sort_by(|one, other| one.urn.cmp(&other.urn));
        if resources.is_empty() { String::new() } else { code(&resources, language, classes) }
    }
}

fn code(resources: &[Arc<ResourceState>], language: Language, known: &[ResourceClass]) -> String {
    let mut imports = BTreeSet::new();
    let mut classes = Classes::new();
    let mut body = String::new();
    for resource in resources {
        if served_by(&resource.kind) == ServedBy::Plugin {
            body.push_str(&packages::statement(resource, language, &mut imports));
            continue;
        }
        if let Some(statement) = constructors::statement(resource, language, known, &mut imports) {
            body.push_str(&statement);
            continue;
        }
        let (class, provider) = maker(resource, language, &mut imports, &mut classes);
        let variable = identifier(resource.urn.name(), language);
        let name = quoted(resource.urn.name());
        let first = if provider.is_empty() { String::new() } else { format!("{provider}, ") };
        let inputs = object(&resource.inputs, language, 0);
        let options = options(resource, language);
        // Writing into a text cannot fail.
        let _ = match language {
            Language::Python => writeln!(body, "{variable} = {class}({first}{name}, {inputs}, {options})"),
            Language::NodeJs => {
                let typed = match (module_of(resource), resource.kind.rsplit(':').next().unwrap_or("Resource")) {
                    ("", "Resource") => String::new(),
                    ("", class) => format!(", undefined, {}", quoted(class)),
                    (module, class) => format!(", {}, {}", quoted(module), quoted(class)),
                };
                writeln!(body, "const {variable} = new {class}({first}{name}, {inputs}, {options}{typed});")
            }
        };
    }
    let head: String = match language {
        Language::Python => {
            let classes = classes.into_values().map(|class| format!("\n\n{class}"));
            let imports = std::iter::once("import pulumi".to_owned()).chain(imports);
            let separated = if classes.len() > 0 { "\n" } else { "" };
            imports.map(|line| line + "\n").chain(classes).chain([separated.to_owned()]).collect()
        }
        Language::NodeJs => std::iter::once("import * as pulumi from \"@pulumi/pulumi\";".to_owned())
            .chain(imports)
            .chain(classes.into_values())
            .map(|line| line + "\n")
            .collect(),
    };
    format!("{head}\n{body}")
}

/// Classes that the code has of its own, by their names.
type Classes = BTreeMap<String, String>;

/// Takes a class into the code; with a number, where another one has its name. Gives the name.
fn declare(classes: &mut Classes, name: &str, declaration: impl Fn(&str) -> String) -> String {
    let mut own = name.to_owned();
    let mut number = 1;
    while classes.get(&own).is_some_and(|known| *known != declaration(&own)) {
        number += 1;
        own = format!("{name}{number}");
    }
    classes.insert(own.clone(), declaration(&own));
    own
}

/// The class that declares a resource, and the provider that is its first argument, if it takes one.
fn maker(
    resource: &ResourceState,
    language: Language,
    imports: &mut BTreeSet<String>,
    classes: &mut Classes,
) -> (String, String) {
    let reference = match &resource.stored_provider {
        StoredProvider::Reference(reference) => Some(&**reference),
        _ => None,
    };
    let class = resource.kind.rsplit(':').next().unwrap_or("Resource");
    // The SDKs' own class cannot be used as it is (Python) or hardly ever is (TypeScript).
    let by_provider = reference.map(|reference| reference.name.trim_end_matches("Provider"));
    let own = by_provider.filter(|_| class == "Resource").unwrap_or(class);
    let own = capitalised(&identifier(own, language));
    let own = if own.is_empty() || own == "Resource" { "Imported".to_owned() } else { own };
    let module = module_of(resource);
    match language {
        Language::Python => {
            let provider = reference.map_or_else(|| "...".to_owned(), |it| provider_expression(it, language, imports));
            // A name that the program's own classes do not have.
            let own = if own == "Imported" { own } else { format!("Imported{own}") };
            let typed = match (module, class) {
                ("", "Resource") => String::new(),
                ("", class) => format!(", name={}", quoted(class)),
                (module, class) => format!(", module={}, name={}", quoted(module), quoted(class)),
            };
            let own = declare(classes, &own, |own| format!("class {own}(pulumi.dynamic.Resource{typed}):\n    pass\n"));
            (own, provider)
        }
        Language::NodeJs => {
            let provider =
                reference.map_or_else(|| "undefined!".to_owned(), |it| provider_expression(it, language, imports));
            let own = declare(classes, &own, |own| format!("class {own} extends pulumi.dynamic.Resource {{}}"));
            (own, provider)
        }
    }
}

/// The module that a class gives its resources in their type; empty for those that give none.
fn module_of(resource: &ResourceState) -> &str {
    let module = resource.kind.split(':').nth(1).unwrap_or_default();
    module.strip_prefix("dynamic").map_or(module, |module| module.trim_start_matches('/'))
}
