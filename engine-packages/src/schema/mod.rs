//! Schemas of packages: what a plugin says of its resources, functions and types.

mod fault;
mod package;
mod read;
#[cfg(test)]
mod read_tests;
mod spec;
mod types;

pub use fault::SchemaFault;
pub use package::{
    Element, EnumValue, External, Function, Outcome, Package, Parameter, Property, Resource, Shape, Token, Type,
    TypeDefinition, TypeId, said_of,
};
pub use read::read;
