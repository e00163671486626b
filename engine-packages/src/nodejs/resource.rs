//! The code of a class.

use std::fmt::Write as _;

use super::files::Files;
use super::layout::{Module, class_of};
use super::methods::{methods, written_of};
use super::names::{is_identifier, list, member, quoted};
use super::values::{expression, outputs_of, replacing};
use super::{Sdk, resource_typing};
use crate::schema::{Property, Resource};

/// Writes a class and its types.
pub(super) fn write(sdk: &Sdk, module: &Module, resource: &Resource, files: &mut Files) -> Result<(), String> {
    let class = class_of(resource);
    let place = &resource.token.text;
    if !is_identifier(&class) {
        return Err(format!("the resource '{place}' makes the class '{class}', which is no identifier"));
    }
    let path = module.path(&module.file(&class, sdk.package));
    let typing = resource_typing::typing(sdk, module, resource);
    files.pair(&path, &code(sdk, module, resource), &typing, &format!("the resource '{place}'"))
}

fn code(sdk: &Sdk, module: &Module, resource: &Resource) -> String {
    let class = class_of(resource);
    let (kind, token) = if resource.is_provider {
        ("ProviderResource", &sdk.package.name)
    } else if resource.is_component {
        ("ComponentResource", &resource.token.text)
    } else {
        ("CustomResource", &resource.token.text)
    };
    let mut made = format!("const utilities = require(\"{}/utilities\");\n", module.up());
    let _ = writeln!(
        made,
        "exports.{class} = utilities.resource({}, {}, {}, {{",
        quoted(kind),
        quoted(&class),
        quoted(token)
    );
    about(sdk, module, resource, &mut made);
    made.push_str("});\n");
    made
}

fn about(sdk: &Sdk, module: &Module, resource: &Resource, made: &mut String) {
    let names = |properties: &[&Property]| list(properties.iter().map(|property| property.name.as_str()));
    let is_input = |name: &str| resource.inputs.iter().any(|input| input.name == name);
    let inputs: Vec<&Property> = resource.inputs.iter().collect();
    let outputs = outputs_of(sdk, resource);
    let required: Vec<&Property> = resource.inputs.iter().filter(|input| input.required).collect();
    let more: Vec<&Property> = outputs.iter().filter(|output| !is_input(&output.name)).copied().collect();
    let only_inputs: Vec<&Property> =
        resource.inputs.iter().filter(|input| !outputs.iter().any(|output| output.name == input.name)).collect();
    let state: Option<Vec<&Property>> = resource.state.as_ref().map(|state| state.iter().collect());
    let _ = writeln!(made, "    inputs: {},", names(&inputs));
    if !resource.is_provider && !only_inputs.is_empty() {
        let _ = writeln!(made, "    onlyInputs: {},", names(&only_inputs));
    }
    for (member, found) in [("required", required), ("outputs", more)] {
        if !found.is_empty() {
            let _ = writeln!(made, "    {member}: {},", names(&found));
        }
    }
    if let Some(state) = state.filter(|_| !resource.is_provider) {
        let _ = writeln!(made, "    state: {},", names(&state));
    }
    let types = format!("{}/types/input", module.up());
    let values: Vec<(&str, String)> = resource
        .inputs
        .iter()
        .filter_map(|input| Some((input.name.as_str(), expression(sdk, input, resource.is_provider, &types)?)))
        .collect();
    if !values.is_empty() {
        made.push_str("    values: {\n");
        for (name, value) in values {
            let _ = writeln!(made, "        {}: {value},", member(name));
        }
        made.push_str("    },\n");
    }
    options(sdk, resource, &outputs, made);
    if !resource.deprecation.is_empty() && !sdk.settings.is_kubernetes() {
        let _ = writeln!(made, "    deprecated: {},", quoted(&resource.deprecation));
    }
    let found = methods(sdk, resource);
    if !found.is_empty() {
        made.push_str("    methods: {\n");
        for method in &found {
            made.push_str(&written_of(sdk, method));
        }
        made.push_str("    },\n");
    }
}

/// Options that are added to those of the user, one after the other as the official SDKs do it.
fn options(sdk: &Sdk, resource: &Resource, outputs: &[&Property], made: &mut String) {
    let mut each = Vec::new();
    if !resource.aliases.is_empty() {
        let types: Vec<String> =
            resource.aliases.iter().map(|alias| format!("{{ type: {} }}", quoted(alias))).collect();
        each.push(format!("{{ aliases: [{}] }}", types.join(", ")));
    }
    let secrets: Vec<&str> = outputs.iter().filter(|output| output.secret).map(|output| output.name.as_str()).collect();
    if !secrets.is_empty() {
        each.push(format!("{{ additionalSecretOutputs: {} }}", list(secrets)));
    }
    let replacing = replacing(sdk.package, &resource.outputs);
    if !replacing.is_empty() {
        each.push(format!("{{ replaceOnChanges: {} }}", list(replacing.iter().map(String::as_str))));
    }
    if !each.is_empty() {
        let _ = writeln!(made, "    options: [{}],", each.join(", "));
    }
}
