//! Which types are given, which are found, and in which of their two shapes.
//!
//! A type has an input shape, whose members take outputs, and a plain shape, whose members do not. Resources are given the first one, functions the second
//! one, and everything that is found has the second one.

use crate::schema::{Outcome, Package, Property, Shape, Type, TypeId};

/// Where a type is used.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Marks {
    /// Given in its input shape.
    pub input: bool,
    /// Given in its plain shape.
    pub plain_input: bool,
    /// Found in outputs.
    pub output: bool,
    /// Its plain shape is used by a function.
    pub function: bool,
}

/// The uses of all types, by their places in the package.
pub(super) fn marks(package: &Package) -> Vec<Marks> {
    const INPUT: Marks = Marks { input: true, plain_input: false, output: false, function: false };
    const PLAIN: Marks = Marks { input: false, plain_input: true, output: false, function: true };
    const OUTPUT: Marks = Marks { input: false, plain_input: false, output: true, function: false };
    const RESULT: Marks = Marks { function: true, ..OUTPUT };
    let mut found = Walk { marks: vec![Marks::default(); package.types.len()], left: Vec::new() };
    found.properties(&package.config, OUTPUT);
    for resource in package.resources.iter().chain([&package.provider]) {
        found.properties(&resource.inputs, INPUT);
        found.properties(resource.state.as_deref().unwrap_or_default(), INPUT);
        // A provider has nothing but texts.
        if !resource.is_provider {
            found.properties(&resource.outputs, OUTPUT);
        }
    }
    for function in &package.functions {
        let inputs = function.inputs.as_deref().unwrap_or_default();
        found.properties(inputs, PLAIN);
        if function.is_method {
            found.properties(inputs, INPUT);
        }
        match &function.result {
            Some(Outcome::Object { properties, .. }) => found.properties(properties, RESULT),
            Some(Outcome::Value { kind, .. }) => found.result(package, kind, RESULT),
            None => {}
        }
    }
    while let Some((id, uses)) = found.left.pop() {
        if let Shape::Object(properties) = &package.definition(id).shape {
            found.properties(properties, uses);
        }
    }
    found.marks
}

struct Walk {
    marks: Vec<Marks>,
    /// Types that got a use, and whose properties get it, too.
    left: Vec<(TypeId, Marks)>,
}

impl Walk {
    fn properties(&mut self, properties: &[Property], uses: Marks) {
        for property in properties {
            self.kind(&property.kind, uses);
        }
    }

    /// An object that a function gives is a class beside that function: only what it holds is nested.
    fn result(&mut self, package: &Package, kind: &Type, uses: Marks) {
        match kind {
            Type::Defined(id) => {
                if let Shape::Object(properties) = &package.definition(*id).shape {
                    self.properties(properties, uses);
                }
            }
            other => self.kind(other, uses),
        }
    }

    fn kind(&mut self, kind: &Type, uses: Marks) {
        match kind {
            Type::List(element) | Type::Map(element) => self.kind(&element.kind, uses),
            Type::Union(kinds) => kinds.iter().for_each(|kind| self.kind(kind, uses)),
            Type::Defined(id) => {
                let known = self.marks[id.0];
                let all = Marks {
                    input: known.input || uses.input,
                    plain_input: known.plain_input || uses.plain_input,
                    output: known.output || uses.output,
                    function: known.function || uses.function,
                };
                if all != known {
                    self.marks[id.0] = all;
                    self.left.push((*id, uses));
                }
            }
            _ => {}
        }
    }
}
