//! Configuration: a value for each name, looked up when it is read.

use std::fmt::Write as _;

use super::Sdk;
use super::docs::{Extent, comment};
use super::files::Files;
use super::layout::Module;
use super::names::{annotation, identifier, is_identifier, is_reserved, member, quoted};
use super::shapes::Side;
use super::typing::Typing;
use super::values::default_of;
use crate::schema::{Property, Type};

pub(super) fn write(sdk: &Sdk, module: &Module, files: &mut Files) -> Result<(), String> {
    files.pair(&module.path("vars"), &code(sdk, module), &typing(sdk, module), "config")
}

fn code(sdk: &Sdk, module: &Module) -> String {
    let mut made = String::from("const pulumi = require(\"@pulumi/pulumi\");\n");
    let values: Vec<(&Property, Option<String>)> =
        sdk.package.config.iter().map(|variable| (variable, default_of(variable))).collect();
    if values.iter().any(|(variable, _)| !variable.environment.is_empty()) {
        let _ = writeln!(made, "const utilities = require(\"{}/utilities\");", module.up());
    }
    let _ = writeln!(made, "const config = new pulumi.Config({});", quoted(&sdk.package.name));
    made.push_str("Object.defineProperties(exports, {\n");
    for (variable, default) in values {
        let get = if is_string(&variable.kind) { "get" } else { "getObject" };
        let default = default.map(|default| format!(" ?? {default}")).unwrap_or_default();
        let _ = writeln!(
            made,
            "    {}: {{ enumerable: true, get: () => config.{get}({}){default} }},",
            member(&variable.name),
            quoted(&variable.name)
        );
    }
    made.push_str("});\n");
    made + &annotation(sdk.package.config.iter().map(|variable| variable.name.as_str()))
}

fn is_string(kind: &Type) -> bool {
    match kind {
        Type::String => true,
        Type::Token(underlying) => **underlying == Type::String,
        _ => false,
    }
}

fn typing(sdk: &Sdk, module: &Module) -> String {
    let typing = Typing::new(sdk, module);
    let mut made = String::new();
    for variable in &sdk.package.config {
        let name = &variable.name;
        let is_named = is_identifier(name);
        if !is_named && !is_reserved(name) {
            // No import can name it.
            continue;
        }
        made.push_str(&comment(&variable.description, &variable.deprecation, Extent::Whole, ""));
        let kind = typing.property(variable, Side::Output);
        let optional = if variable.default.is_some() { "" } else { " | undefined" };
        let _ = if is_named {
            writeln!(made, "export declare const {name}: {kind}{optional};")
        } else {
            let own = identifier(name);
            writeln!(made, "declare const {own}: {kind}{optional};\nexport {{ {own} as {name} }};")
        };
    }
    if made.is_empty() {
        made.push_str("export {};\n");
    }
    typing.imports() + &made
}
