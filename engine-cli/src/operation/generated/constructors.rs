//! Code that declares an imported resource with the program's own class, where that is known.

use std::collections::BTreeSet;

use maloko_core::provider::StoredProvider;
use maloko_core::resource_state::ResourceState;
use maloko_core::value::PropertyMap;

use super::source_text::{identifier, is_identifier, object, options, provider_expression, quoted, value};
use crate::language_host::{Language, Parameter, ResourceClass};

/// Names that parameters for the options of a resource have.
const OPTIONS: [&str; 3] = ["opts", "options", "resource_options"];

/// The statement that declares a resource; `None` when the program's class is not known, or how it is made.
pub(super) fn statement(
    resource: &ResourceState,
    language: Language,
    known: &[ResourceClass],
    imports: &mut BTreeSet<String>,
) -> Option<String> {
    let class = class_of(resource, known)?;
    let given = ConstructorArguments::new(resource, class, language)?;
    import(class, language, imports);
    let variable = identifier(resource.urn.name(), language);
    let mut arguments = Vec::new();
    if let (true, StoredProvider::Reference(reference)) = (class.takes_provider, &resource.stored_provider) {
        arguments.push(provider_expression(reference, language, imports));
    }
    arguments.push(quoted(resource.urn.name()));
    arguments.extend(given.arguments);
    let name = &class.name;
    let (call, mark) = match language {
        Language::Python => (format!("{variable} = {name}({})", arguments.join(", ")), "#"),
        Language::NodeJs => (format!("const {variable} = new {name}({});", arguments.join(", ")), "//"),
    };
    let notes = given.notes.iter().map(|note| format!("{mark} {note}"));
    Some(notes.chain([call, String::new()]).collect::<Vec<_>>().join("\n"))
}

/// The one class whose resources have this provider, or this type.
fn class_of<'c>(resource: &ResourceState, known: &'c [ResourceClass]) -> Option<&'c ResourceClass> {
    let StoredProvider::Reference(reference) = &resource.stored_provider else { return None };
    let serves =
        |class: &&ResourceClass| class.provider_module == reference.module && class.provider_name == reference.name;
    let of_kind: Vec<&ResourceClass> =
        known.iter().filter(|class| class.kind == resource.kind).filter(serves).collect();
    match of_kind.as_slice() {
        [class] => Some(class),
        _ => None,
    }
}

fn import(class: &ResourceClass, language: Language, imports: &mut BTreeSet<String>) {
    let outermost = class.name.split('.').next().unwrap_or(&class.name);
    match language {
        Language::Python if class.module == "__main__" => {}
        Language::Python => {
            imports.insert(format!("from {} import {outermost}", class.module));
        }
        Language::NodeJs => {
            let file = class.module.trim_end_matches(".ts").trim_end_matches(".js");
            // What is in the program's first file needs no import there.
            if file != "index" {
                imports.insert(format!("import {{ {outermost} }} from \"./{file}\";"));
            }
        }
    }
}

/// What a constructor is given after the name.
struct ConstructorArguments {
    arguments: Vec<String>,
    /// What it does not take.
    notes: Vec<String>,
}

impl ConstructorArguments {
    fn new(resource: &ResourceState, class: &ResourceClass, language: Language) -> Option<Self> {
        let is_options = |parameter: &&Parameter| OPTIONS.contains(&parameter.name.as_str());
        let own: Vec<&Parameter> = class.parameters.iter().filter(|it| !is_options(it)).collect();
        let options_name = class.parameters.iter().find(is_options).map(|it| it.name.as_str());
        let options = options(resource, language);
        let has_options = !matches!(options.as_str(), "{}" | "pulumi.ResourceOptions()");
        let mut notes = Vec::new();
        let mut arguments = match own.as_slice() {
            // One parameter for all inputs, unless it is named like one of them.
            [one] if !one.name.starts_with("**") && input_of(one, &resource.inputs).is_none() => {
                vec![object(&resource.inputs, language, 0)]
            }
            [] if resource.inputs.is_empty() => Vec::new(),
            several => {
                let (taken, left) = divided(several, &resource.inputs);
                if taken.is_empty() {
                    return None;
                }
                if !left.is_empty() {
                    notes.push(format!("{} takes no {}", class.name, left.join(", ")));
                }
                match language {
                    Language::Python => keywords(several, &resource.inputs, &taken),
                    Language::NodeJs => positions(several, &resource.inputs),
                }
            }
        };
        match (options_name, language) {
            (Some(name), Language::Python) if has_options => arguments.push(format!("{name}={options}")),
            (Some(_), Language::NodeJs) if has_options => arguments.push(options),
            (None, _) if has_options => notes.push(format!("{} takes no options; wanted: {options}", class.name)),
            _ => {}
        }
        Some(Self { arguments, notes })
    }
}

/// The input that a parameter stands for: of the same name, or of the name in the other languages' spelling.
fn input_of<'i>(parameter: &Parameter, inputs: &'i PropertyMap) -> Option<&'i str> {
    inputs.keys().map(String::as_str).find(|key| *key == parameter.name || snake(key) == parameter.name)
}

pub(super) fn snake(key: &str) -> String {
    let mut text = String::new();
    for character in key.chars() {
        if character.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(character.to_ascii_lowercase());
    }
    text
}

/// The inputs for which there is a parameter, and the others.
fn divided<'i>(parameters: &[&Parameter], inputs: &'i PropertyMap) -> (Vec<&'i str>, Vec<&'i str>) {
    let takes_all = parameters.iter().any(|it| it.name.starts_with("**"));
    let is_taken = |key: &&str| {
        (takes_all && is_identifier(key)) || parameters.iter().any(|it| input_of(it, inputs) == Some(*key))
    };
    inputs.keys().map(String::as_str).partition(is_taken)
}

fn keywords(parameters: &[&Parameter], inputs: &PropertyMap, taken: &[&str]) -> Vec<String> {
    let mut arguments = Vec::new();
    for parameter in parameters.iter().filter(|it| !it.name.starts_with("**")) {
        match input_of(parameter, inputs) {
            Some(key) => {
                arguments.push(format!("{}={}", parameter.name, value(&inputs[key], Language::Python, 0)));
            }
            None if parameter.required => arguments.push(format!("{}=...", parameter.name)),
            None => {}
        }
    }
    let named = |key: &&&str| !parameters.iter().any(|it| input_of(it, inputs) == Some(**key));
    arguments
        .extend(taken.iter().filter(named).map(|key| format!("{key}={}", value(&inputs[*key], Language::Python, 0))));
    arguments
}

fn positions(parameters: &[&Parameter], inputs: &PropertyMap) -> Vec<String> {
    let argument = |parameter: &&Parameter| {
        input_of(parameter, inputs)
            .map_or_else(|| "undefined".to_owned(), |key| value(&inputs[key], Language::NodeJs, 0))
    };
    parameters.iter().map(argument).collect()
}
