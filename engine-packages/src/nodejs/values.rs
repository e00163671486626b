//! Values that resources get without being told: constants, defaults, and changes that replace them.

use serde_json::Value as Json;

use super::Sdk;
use super::names::{is_member, quoted};
use super::shapes::Side;
use crate::schema::{Package, Property, Resource, Shape, Type};

/// A literal.
pub(super) fn literal(value: &Json) -> String {
    value.to_string()
}

/// The member of an object that may be absent: `args?.size`.
pub(super) fn access(object: &str, name: &str) -> String {
    if is_member(name) { format!("{object}?.{name}") } else { format!("{object}?.[{}]", quoted(name)) }
}

/// What a property is where nobody says.
pub(super) fn default_of(property: &Property) -> Option<String> {
    let value = property.default.as_ref().map(literal);
    if property.environment.is_empty() {
        return value;
    }
    let kind = match property.kind {
        Type::Bool => "Boolean",
        Type::Integer | Type::Number => "Number",
        _ => "",
    };
    let variables: Vec<String> = property.environment.iter().map(|name| quoted(name)).collect();
    let found = format!("utilities.getEnv{kind}({})", variables.join(", "));
    Some(value.map_or_else(|| found.clone(), |value| format!("({found} || {value})")))
}

/// How the value of an input is made of `args`; `None`: it is what it is.
pub(super) fn expression(sdk: &Sdk, property: &Property, is_provider: bool, types: &str) -> Option<String> {
    if let Some(constant) = &property.constant {
        return Some(format!("() => {}", literal(constant)));
    }
    let argument = access("args", &property.name);
    let filler = sdk.filler(&property.kind, Side::Input);
    let fill = filler.map(|name| {
        let how = if property.plain { "filledPlain" } else { "filled" };
        (how, format!("known => require(\"{types}\").{name}(known)"))
    });
    let mut made = match (&fill, property.secret) {
        (None, false) => argument.clone(),
        (None, true) => format!("utilities.secret({argument})"),
        (Some((how, fill)), false) => format!("utilities.{how}({argument}, {fill})"),
        (Some((how, fill)), true) => {
            format!("utilities.secret({argument}, value => utilities.{how}(value, {fill}))")
        }
    };
    if let Some(default) = default_of(property) {
        made = format!("{made} ?? {default}");
    }
    if is_provider && !is_text(&property.kind, sdk.package) {
        made = format!("utilities.json({made})");
    }
    (made != argument).then(|| format!("args => {made}"))
}

/// The properties that the class has.
pub(super) fn outputs_of<'a>(sdk: &'a Sdk, resource: &'a Resource) -> Vec<&'a Property> {
    // What a provider is told comes back as text, so only texts can be read from it.
    let is_kept = |property: &&Property| !resource.is_provider || has_text(sdk, property);
    resource.outputs.iter().filter(is_kept).collect()
}

fn has_text(sdk: &Sdk, property: &Property) -> bool {
    !matches!(property.kind, Type::Union(_)) && is_text(&property.kind, sdk.package)
}

/// Whether a value is a text on its way to a provider.
pub(super) fn is_text(kind: &Type, package: &Package) -> bool {
    match kind {
        Type::String => true,
        Type::Token(underlying) => **underlying == Type::String,
        Type::Defined(id) => match &package.definition(*id).shape {
            Shape::Enum { base, .. } => *base == Type::String,
            Shape::Object(_) => false,
        },
        // A relaxed enumeration: the last one of the union decides.
        Type::Union(kinds) => {
            kinds.iter().rev().find(|kind| is_enum(kind, package)).is_some_and(|kind| is_text(kind, package))
        }
        _ => false,
    }
}

fn is_enum(kind: &Type, package: &Package) -> bool {
    matches!(kind, Type::Defined(id) if matches!(package.definition(*id).shape, Shape::Enum { .. }))
}

/// Paths to the properties whose change replaces a resource: `["spec.name", "triggers[*]"]`.
pub(super) fn replacing(package: &Package, properties: &[Property]) -> Vec<String> {
    let mut found = Vec::new();
    for property in properties {
        if property.replace_on_changes {
            found.push(step(property));
            continue;
        }
        let within = replacing_within(package, &property.kind, &mut vec![property.kind.clone()]);
        found.extend(within.into_iter().map(|rest| format!("{}.{rest}", step(property))));
    }
    found
}

fn replacing_within(package: &Package, kind: &Type, above: &mut Vec<Type>) -> Vec<String> {
    let properties = match kind {
        Type::List(element) | Type::Map(element) => return replacing_within(package, &element.kind, above),
        Type::Defined(id) => match &package.definition(*id).shape {
            Shape::Object(properties) => properties,
            Shape::Enum { .. } => return Vec::new(),
        },
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    for property in properties {
        if property.replace_on_changes {
            found.push(step(property));
        } else if !above.contains(&property.kind) {
            // A type that holds itself has no longest path.
            above.push(property.kind.clone());
            let within = replacing_within(package, &property.kind, above);
            above.pop();
            found.extend(within.into_iter().map(|rest| format!("{}.{rest}", step(property))));
        }
    }
    found
}

fn step(property: &Property) -> String {
    let suffix = match property.kind {
        Type::List(_) => "[*]",
        Type::Map(_) => ".*",
        _ => "",
    };
    format!("{}{suffix}", property.name)
}
