//! Paths of properties whose change replaces a resource: `triggers[*]`, `settings.name`.

use crate::schema::{Package, Property, Shape, Type, TypeId};

/// Those of a resource.
pub(super) fn replacing(package: &Package, properties: &[&Property]) -> Vec<String> {
    let mut found = Vec::new();
    for property in properties {
        below(package, property, "", &mut Vec::new(), &mut found);
    }
    found
}

fn below(package: &Package, property: &Property, before: &str, seen: &mut Vec<TypeId>, found: &mut Vec<String>) {
    let path = match &property.kind {
        Type::List(_) => format!("{before}{}[*]", property.name),
        Type::Map(_) => format!("{before}{}.*", property.name),
        _ => format!("{before}{}", property.name),
    };
    if property.replace_on_changes {
        found.push(path);
        return;
    }
    let mut kind = &property.kind;
    while let Type::List(element) | Type::Map(element) = kind {
        kind = &element.kind;
    }
    let Type::Defined(id) = kind else { return };
    let Shape::Object(properties) = &package.definition(*id).shape else { return };
    // A type within itself has no end.
    if seen.contains(id) {
        return;
    }
    seen.push(*id);
    for property in properties {
        below(package, property, &format!("{path}."), seen, found);
    }
    seen.pop();
}
