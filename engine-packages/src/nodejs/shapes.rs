//! In which shapes each object is used.
//!
//! An object has up to three types in TypeScript: what resources are given, where each value may be an output; what
//! functions are given, where none may; and what comes back.

use crate::schema::{Outcome, Package, Property, Shape, Type, TypeId};

/// A side on which a type is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// Given, and values may be outputs.
    Input,
    /// Given to a function, without outputs.
    Plain,
    /// What comes back.
    Output,
}

/// The shapes of one object.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shapes {
    pub input: bool,
    pub plain: bool,
    pub output: bool,
    /// Whether functions are given it with outputs, which has a say in its name.
    pub by_functions: bool,
}

/// The shapes of every type of a package, by place.
pub(super) fn of(package: &Package) -> Vec<Shapes> {
    let input = Shapes { input: true, ..Shapes::default() };
    let plain = Shapes { plain: true, ..Shapes::default() };
    let output = Shapes { output: true, ..Shapes::default() };
    let mut marks = Marks { shapes: vec![Shapes::default(); package.types.len()], left: Vec::new() };
    marks.properties(&package.config, output);
    let provider = (!package.is_extension).then_some(&package.provider);
    for resource in package.resources.iter().filter(|resource| !resource.is_overlay).chain(provider) {
        marks.properties(&resource.outputs, output);
        marks.properties(&resource.inputs, input);
        marks.properties(resource.state.as_deref().unwrap_or_default(), input);
    }
    for function in &package.functions {
        let inputs = function.inputs.as_deref().unwrap_or_default();
        marks.properties(inputs, plain);
        if function.result.is_some() || function.is_method {
            marks.properties(inputs, Shapes { by_functions: true, ..input });
        }
        match &function.result {
            Some(Outcome::Object { properties, .. }) => marks.properties(properties, output),
            Some(Outcome::Value { kind, .. }) => marks.kind(kind, output),
            None => {}
        }
    }
    while let Some((id, shapes)) = marks.left.pop() {
        if let Shape::Object(properties) = &package.definition(id).shape {
            marks.properties(properties, shapes);
        }
    }
    marks.shapes
}

struct Marks {
    shapes: Vec<Shapes>,
    /// Types that got a shape, and whose properties get it, too.
    left: Vec<(TypeId, Shapes)>,
}

impl Marks {
    fn properties(&mut self, properties: &[Property], shapes: Shapes) {
        for property in properties {
            self.kind(&property.kind, shapes);
        }
    }

    fn kind(&mut self, kind: &Type, shapes: Shapes) {
        match kind {
            Type::List(element) | Type::Map(element) => self.kind(&element.kind, shapes),
            Type::Union(kinds) => kinds.iter().for_each(|kind| self.kind(kind, shapes)),
            Type::Defined(id) => {
                let known = &mut self.shapes[id.0];
                let all = Shapes {
                    input: known.input || shapes.input,
                    plain: known.plain || shapes.plain,
                    output: known.output || shapes.output,
                    by_functions: known.by_functions || shapes.by_functions,
                };
                if all != *known {
                    *known = all;
                    self.left.push((*id, shapes));
                }
            }
            _ => {}
        }
    }
}
