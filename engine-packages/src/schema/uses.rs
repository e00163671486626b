//! Where each type of a package is used: as input, as output, by functions.

use super::package::{Outcome, Package, Property, Shape, Type, TypeId, Uses};

/// Follows every resource and function into the types that they use.
pub(super) fn mark_uses(package: &mut Package) {
    let mut found = Marks { uses: vec![Uses::default(); package.types.len()], left: Vec::new() };
    for resource in package.resources.iter().chain([&package.provider]) {
        found.properties(&resource.inputs, INPUT);
        // A state is looked for by inputs.
        found.properties(resource.state.as_deref().unwrap_or_default(), INPUT);
        found.properties(&resource.outputs, OUTPUT);
    }
    found.properties(&package.config, OUTPUT);
    for function in &package.functions {
        let inputs = function.inputs.as_deref().unwrap_or_default();
        if function.is_method {
            found.properties(inputs, Uses { function: true, ..INPUT });
        } else {
            found.properties(inputs, Uses { function: true, ..PLAIN });
            found.properties(inputs, Uses { function: true, ..INPUT });
        }
        let output = Uses { function: true, ..OUTPUT };
        match &function.result {
            Some(Outcome::Object { properties, .. }) => found.properties(properties, output),
            Some(Outcome::Value { kind, .. }) => found.kind(kind, output),
            None => {}
        }
    }
    while let Some((id, uses)) = found.left.pop() {
        let package: &Package = package;
        if let Shape::Object(properties) = &package.definition(id).shape {
            found.properties(properties, uses);
        }
    }
    for (definition, uses) in package.types.iter_mut().zip(found.uses) {
        definition.uses = uses;
    }
}

const INPUT: Uses = Uses { input: true, plain_input: false, output: false, function: false };
const PLAIN: Uses = Uses { input: false, plain_input: true, output: false, function: false };
const OUTPUT: Uses = Uses { input: false, plain_input: false, output: true, function: false };

struct Marks {
    uses: Vec<Uses>,
    /// Types that got a use, and whose properties get it, too.
    left: Vec<(TypeId, Uses)>,
}

impl Marks {
    fn properties(&mut self, properties: &[Property], uses: Uses) {
        for property in properties {
            let plain = property.plain && uses.input;
            self.kind(&property.kind, if plain { Uses { input: false, plain_input: true, ..uses } } else { uses });
        }
    }

    fn kind(&mut self, kind: &Type, uses: Uses) {
        match kind {
            Type::List(element) | Type::Map(element) => {
                let plain = element.plain && uses.input;
                self.kind(&element.kind, if plain { Uses { input: false, plain_input: true, ..uses } } else { uses });
            }
            Type::Union(kinds) => kinds.iter().for_each(|kind| self.kind(kind, uses)),
            Type::Defined(id) => {
                let known = &mut self.uses[id.0];
                let all = Uses {
                    input: known.input || uses.input,
                    plain_input: known.plain_input || uses.plain_input,
                    output: known.output || uses.output,
                    function: known.function || uses.function,
                };
                if all != *known {
                    *known = all;
                    self.left.push((*id, uses));
                }
            }
            _ => {}
        }
    }
}
