//! The files of types of packages, enumerations, types and configuration.

use std::fmt::Write as _;

use crate::SdkFault;
use crate::schema::{Shape, Type};

use super::docs::comment;
use super::literal;
use super::modules::Module;
use super::names::{self, snake};
use super::sdk::Sdk;
use super::stub_kinds::{Form, Stub};

impl Sdk<'_> {
    pub(super) fn package_stub(&self, module: &Module<'_>) -> String {
        let mut body = String::new();
        let all = self.exports(module);
        for (file, members) in self.members(module) {
            // What has the same name as a type for inputs is not a member of the package.
            if all.get(&file).is_none_or(|all| all.len() == members.len()) {
                let _ = writeln!(body, "from .{file} import *");
            } else {
                for member in members {
                    let _ = writeln!(body, "from .{file} import {member} as {member}");
                }
            }
        }
        if !self.input_classes(module).is_empty() {
            body.push_str("from ._inputs import *\n");
        }
        if !self.output_classes(module).is_empty() {
            body.push_str("from . import outputs as outputs\n");
        }
        for child in &module.children {
            let _ = writeln!(body, "from . import {child} as {child}");
        }
        body
    }

    pub(super) fn inputs_stub(&self, module: &Module<'_>) -> String {
        let mut stub = Stub::of(&module.path, "_inputs");
        let classes = self.input_classes(module);
        let has_dictionaries = self.settings.has_dictionaries();
        let mut exported = Vec::new();
        let mut body = String::new();
        for (class, id, side) in &classes {
            let definition = self.package.definition(*id);
            let Shape::Object(properties) = &definition.shape else { continue };
            exported.push(literal::text(class));
            body.push('\n');
            if has_dictionaries {
                exported.push(literal::text(&format!("{class}Dict")));
                let _ = writeln!(body, "class {class}Dict(TypedDict):");
                let mut is_empty = true;
                for property in super::tables::required_first(properties) {
                    let kind = self.stub_property(&mut stub, property, *side, Form::Dictionary, false);
                    let kind = if property.required { kind } else { format!("NotRequired[{kind}]") };
                    let _ = writeln!(body, "    {}: {kind}", snake(&property.name));
                    is_empty = false;
                }
                body.push_str(if is_empty { "    ...\n\n" } else { "\n" });
            }
            let text = self.args_stub(&mut stub, class, properties, *side, &|_| false);
            match text.split_once('\n') {
                Some((head, rest)) => {
                    let _ = write!(body, "{head}\n{}{rest}", comment(&definition.description, "    "));
                }
                None => body += &text,
            }
        }
        format!("{}\n__all__ = {}\n{body}", stub.head(), literal::wrapped('[', &exported, ']', 0))
    }

    pub(super) fn outputs_stub(&self, module: &Module<'_>) -> String {
        let mut stub = Stub::of(&module.path, "outputs");
        let mut exported = Vec::new();
        let mut body = String::new();
        for (class, id, _) in self.output_classes(module) {
            let definition = self.package.definition(id);
            let Shape::Object(properties) = &definition.shape else { continue };
            exported.push(literal::text(&class));
            body.push('\n');
            body += &self.output_stub(&mut stub, &class, &definition.description, properties);
        }
        format!("{}\n__all__ = {}\n{body}", stub.head(), literal::wrapped('[', &exported, ']', 0))
    }

    pub(super) fn enums_stub(&self, module: &Module<'_>) -> Result<String, SdkFault> {
        let mut body = String::from("from enum import Enum\n\n");
        let mut exported = Vec::new();
        let mut classes = String::new();
        for id in &module.enums {
            let definition = self.package.definition(*id);
            let Shape::Enum { base, values } = &definition.shape else { continue };
            let name = names::class(&definition.token.name);
            let bases = match base {
                Type::Integer => "int, Enum",
                Type::Number => "float, Enum",
                // Python has no enumerations of truth values: members are the values themselves.
                Type::Bool => "",
                _ => "str, Enum",
            };
            exported.push(literal::text(&name));
            let bases = if bases.is_empty() { String::new() } else { format!("({bases})") };
            let _ = writeln!(classes, "\nclass {name}{bases}:");
            classes += &comment(&definition.description, "    ");
            for ((member, value), given) in self.enum_members(*id)?.into_iter().zip(values) {
                let _ = writeln!(classes, "    {member} = {value}");
                let deprecated = if given.deprecation.is_empty() { "" } else { "Deprecated: " };
                classes += &comment(&format!("{}\n\n{deprecated}{}", given.description, given.deprecation), "    ");
            }
            if values.is_empty() {
                classes.push_str("    ...\n");
            }
        }
        let _ = writeln!(body, "__all__ = {}", literal::wrapped('[', &exported, ']', 0));
        Ok(body + &classes)
    }

    pub(super) fn config_stub(&self) -> String {
        let mut body = String::from("from typing import Optional\n\n");
        for variable in &self.package.config {
            let kind = match variable.kind {
                Type::Bool => "bool",
                Type::Integer => "int",
                Type::Number => "float",
                _ => "str",
            };
            let kind = if variable.default.is_some() { kind.to_owned() } else { format!("Optional[{kind}]") };
            let _ = writeln!(body, "{}: {kind}", snake(&variable.name));
            body += &comment(&variable.description, "");
        }
        body
    }
}
