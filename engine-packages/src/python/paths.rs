//! Paths of properties whose change replaces a resource: `triggers[*]`, `settings.name`.

use crate::schema::{Package, Property, Shape, Type};

/// Those of a resource.
pub(super) fn replacing<'p>(package: &'p Package, properties: &[&'p Property]) -> Vec<String> {
    let mut found = Vec::new();
    for property in properties {
        below(package, property, "", &mut Vec::new(), &mut found);
    }
    found
}

/// `seen`: the types of the properties above. A type within itself has no end, and the official SDKs stop at a property of the very same type.
fn below<'p>(
    package: &'p Package,
    property: &'p Property,
    before: &str,
    seen: &mut Vec<(&'p Type, bool)>,
    found: &mut Vec<String>,
) {
    let path = match &property.kind {
        Type::List(_) => format!("{before}{}[*]", property.name),
        Type::Map(_) => format!("{before}{}.*", property.name),
        _ => format!("{before}{}", property.name),
    };
    if property.replace_on_changes {
        found.push(path);
        return;
    }
    let own = (&property.kind, property.required);
    if seen.contains(&own) {
        return;
    }
    let mut kind = &property.kind;
    while let Type::List(element) | Type::Map(element) = kind {
        kind = &element.kind;
    }
    let Type::Defined(id) = kind else { return };
    let Shape::Object(properties) = &package.definition(*id).shape else { return };
    seen.push(own);
    for property in properties {
        below(package, property, &format!("{path}."), seen, found);
    }
    seen.pop();
}
