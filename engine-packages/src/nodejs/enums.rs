//! Enumerations: constants with their values, and a type of the same name.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::Sdk;
use super::docs::{Extent, comment};
use super::files::Files;
use super::index::{Names, Source};
use super::layout::Module;
use super::names::{enum_member, identifier, is_identifier, member, title};
use super::values::literal;
use crate::schema::{EnumValue, Shape, TypeDefinition};

/// Writes the enumerations of a module, and the way to those of modules within.
pub(super) fn write(sdk: &Sdk, module: &Module, files: &mut Files) -> Result<(), String> {
    if !module.has_enums {
        return Ok(());
    }
    let (mut code, mut typing) = (String::new(), String::new());
    let mut names = Names::default();
    for child in children(sdk, module) {
        names.add(&identifier(&child), Source::Folder(format!("./{child}")));
    }
    let mut seen = Vec::new();
    for id in &module.enums {
        let definition = sdk.package.definition(*id);
        let Shape::Enum { values, .. } = &definition.shape else { continue };
        let name = title(&definition.token.name);
        let place = &definition.token.text;
        if !is_identifier(&name) {
            return Err(format!("the enumeration '{place}' makes the name '{name}', which is no identifier"));
        }
        if seen.contains(&name) {
            return Err(format!("two enumerations of the module '{}' have the name '{name}'", module.name));
        }
        one(&name, definition, values, &mut code, &mut typing)?;
        seen.push(name);
    }
    let path = if module.folder.is_empty() {
        "types/enums/index".to_owned()
    } else {
        format!("types/enums/{}/index", module.folder)
    };
    files.pair(&path, &(names.code() + &code), &(names.typing() + &typing), "the enumerations")
}

fn children(sdk: &Sdk, module: &Module) -> Vec<String> {
    let within =
        |child: &str| if module.folder.is_empty() { child.to_owned() } else { format!("{}/{child}", module.folder) };
    module
        .children
        .iter()
        .filter(|child| sdk.modules.values().any(|other| other.folder == within(child) && other.has_enums))
        .cloned()
        .collect()
}

fn one(
    name: &str,
    definition: &TypeDefinition,
    values: &[EnumValue],
    code: &mut String,
    typing: &mut String,
) -> Result<(), String> {
    let place = &definition.token.text;
    let _ = writeln!(code, "exports.{name} = {{");
    let _ = writeln!(typing, "export declare const {name}: {{");
    let mut seen = Vec::new();
    for value in values {
        let said = if value.name.is_empty() { shown(&value.value) } else { value.name.clone() };
        let Some(made) = enum_member(&said, name) else {
            return Err(format!("the value '{said}' of the enumeration '{place}' makes no name; give it one"));
        };
        if seen.contains(&made) {
            return Err(format!("two values of the enumeration '{place}' have the name '{made}'"));
        }
        let literal = literal(&value.value);
        let _ = writeln!(code, "    {}: {literal},", member(&made));
        typing.push_str(&comment(&value.description, &value.deprecation, Extent::Whole, "    "));
        let _ = writeln!(typing, "    readonly {}: {literal};", member(&made));
        seen.push(made);
    }
    code.push_str("};\n");
    typing.push_str("};\n");
    typing.push_str(&comment(&definition.description, "", Extent::Whole, ""));
    let _ = writeln!(typing, "export type {name} = (typeof {name})[keyof typeof {name}];");
    Ok(())
}

/// A value as the name that it has where the schema gives none.
fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        // 2.0 is called 2.
        Json::Number(number) => number.as_f64().map_or_else(|| number.to_string(), |number| number.to_string()),
        other => other.to_string(),
    }
}
