//! Objects: `types/input` with what is given, `types/output` with what comes back.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value as Json;

use super::Sdk;
use super::docs::Extent;
use super::files::Files;
use super::interface::{Style, interface};
use super::layout::{Module, module_of, namespaces};
use super::names::{is_identifier, member};
use super::shapes::Side;
use super::typing::Typing;
use super::values::{access, default_of};
use crate::schema::{Property, Shape, TypeId, said_of};

pub(super) fn write(sdk: &Sdk, module: &Module, files: &mut Files) -> Result<(), String> {
    for (file, sides) in [("input", &[Side::Input, Side::Plain][..]), ("output", &[Side::Output][..])] {
        let objects = objects(sdk, sides)?;
        files.pair(&module.path(file), &code(sdk, &objects), &typing(sdk, module, &objects), "the types")?;
    }
    Ok(())
}

/// An object on one side.
struct Object {
    id: TypeId,
    name: String,
    side: Side,
    properties: Vec<Property>,
}

/// The objects of each module.
fn objects(sdk: &Sdk, sides: &[Side]) -> Result<BTreeMap<String, Vec<Object>>, String> {
    let mut found: BTreeMap<String, Vec<Object>> = BTreeMap::new();
    for (at, definition) in sdk.package.types.iter().enumerate() {
        let Shape::Object(properties) = &definition.shape else { continue };
        let module = module_of(&definition.token, &sdk.settings);
        for side in sides {
            let shapes = sdk.shapes[at];
            let is_used = match side {
                Side::Input => shapes.input,
                Side::Plain => shapes.plain,
                Side::Output => shapes.output,
            };
            if !is_used {
                continue;
            }
            let name = sdk.object_name(TypeId(at), *side);
            if !is_identifier(&name) {
                let place = &definition.token.text;
                return Err(format!("the type '{place}' makes the name '{name}', which is no identifier"));
            }
            let objects = found.entry(module.to_owned()).or_default();
            // Where both have the same name, the one that also takes outputs fits both uses.
            if !objects.iter().any(|other| other.id == TypeId(at) && other.name == name) {
                let properties = required(properties, *side, &definition.language);
                objects.push(Object { id: TypeId(at), name, side: *side, properties });
            }
        }
    }
    for objects in found.values_mut() {
        objects.sort_by(|one, other| one.name.cmp(&other.name));
    }
    Ok(found)
}

/// What has to be there may differ between what is given and what comes back.
fn required(properties: &[Property], side: Side, language: &indexmap::IndexMap<String, Json>) -> Vec<Property> {
    let member = if side == Side::Output { "requiredOutputs" } else { "requiredInputs" };
    let Some(names) = said_of(language, "nodejs", member).and_then(Json::as_array) else { return properties.to_vec() };
    let is_required = |name: &str| names.iter().any(|required| required.as_str() == Some(name));
    properties.iter().map(|property| Property { required: is_required(&property.name), ..property.clone() }).collect()
}

fn typing(sdk: &Sdk, module: &Module, objects: &BTreeMap<String, Vec<Object>>) -> String {
    let typing = Typing::new(sdk, module);
    let mut made = String::new();
    for (name, objects) in objects {
        let is_top = name.is_empty();
        if !is_top {
            let _ = writeln!(made, "export declare namespace {} {{", namespaces(name).collect::<Vec<_>>().join("."));
        }
        for object in objects {
            let extent = if object.side == Side::Output { Extent::First } else { Extent::Whole };
            let keyword = if is_top { "export " } else { "" };
            let style = Style { side: object.side, is_readonly: false, extent, indent: "", keyword };
            let text = &sdk.package.definition(object.id).description;
            made.push_str(&interface(&typing, &object.name, text, &object.properties, &style));
            if let Some(filler) = filler(sdk, object) {
                let keyword = if is_top { "export declare " } else { "" };
                let _ = writeln!(made, "{keyword}function {filler}(val: {0}): {0};", object.name);
            }
        }
        if !is_top {
            made.push_str("}\n");
        }
    }
    if made.is_empty() {
        made.push_str("export {};\n");
    }
    typing.imports() + &made
}

/// The function that fills in an object's defaults, without its module.
fn filler(sdk: &Sdk, object: &Object) -> Option<String> {
    let whole = sdk.filler(&crate::schema::Type::Defined(object.id), object.side)?;
    Some(whole.rsplit('.').next().unwrap_or_default().to_owned())
}

fn code(sdk: &Sdk, objects: &BTreeMap<String, Vec<Object>>) -> String {
    let mut functions = String::new();
    let mut spaces: Vec<String> = Vec::new();
    for (name, objects) in objects {
        for object in objects {
            let Some(filler) = filler(sdk, object) else { continue };
            let mut space = String::from("exports");
            for part in namespaces(name) {
                space = format!("{space}.{part}");
                if !spaces.contains(&space) {
                    spaces.push(space.clone());
                }
            }
            let _ = writeln!(functions, "{space}.{filler} = val => ({{");
            functions.push_str("    ...val,\n");
            object.properties.iter().filter_map(|property| filled(sdk, property, object.side)).for_each(|line| {
                functions.push_str(&line);
            });
            functions.push_str("});\n");
        }
    }
    if functions.is_empty() {
        return functions;
    }
    let mut made = String::from("const utilities = require(\"../utilities\");\n");
    for space in spaces {
        let _ = writeln!(made, "{space} = {{}};");
    }
    made + &functions
}

/// A property that has a default, or holds what has some.
fn filled(sdk: &Sdk, property: &Property, side: Side) -> Option<String> {
    let value = access("val", &property.name).replace("?.[", "[").replacen("?.", ".", 1);
    let name = member(&property.name);
    if let Some(default) = default_of(property) {
        return Some(format!("    {name}: {value} ?? {default},\n"));
    }
    let filler = sdk.filler(&property.kind, side)?;
    let made = if side == Side::Input && !property.plain {
        let how = if property.required { "filledAlways" } else { "filled" };
        format!("utilities.{how}({value}, known => exports.{filler}(known))")
    } else if property.required {
        format!("exports.{filler}({value})")
    } else {
        format!("utilities.filledPlain({value}, known => exports.{filler}(known))")
    };
    Some(format!("    {name}: {made},\n"))
}
