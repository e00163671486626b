//! Types in TypeScript.

use std::cell::Cell;
use std::fmt::Write as _;

use super::layout::{Module, class_of, module_of, namespaces};
use super::names::{identifier, list, title};
use super::shapes::Side;
use super::{Sdk, external};
use crate::schema::{Element, Property, Shape, Token, Type, TypeId};

/// Writes types for one file, and remembers what the file has to import for them.
pub(super) struct Typing<'a> {
    sdk: &'a Sdk<'a>,
    module: &'a Module,
    inputs: Cell<bool>,
    outputs: Cell<bool>,
    enums: Cell<bool>,
}

/// A type, and whether it needs parentheses before `[]`.
struct TypeText {
    text: String,
    is_union: bool,
}

impl From<&str> for TypeText {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), is_union: false }
    }
}

impl<'a> Typing<'a> {
    pub(super) fn new(sdk: &'a Sdk<'a>, module: &'a Module) -> Self {
        Self { sdk, module, inputs: Cell::new(false), outputs: Cell::new(false), enums: Cell::new(false) }
    }

    /// The lines that import what was used.
    pub(super) fn imports(&self) -> String {
        let up = self.module.up();
        let mut made = String::from("import * as pulumi from \"@pulumi/pulumi\";\n");
        for (used, name, file) in
            [(&self.inputs, "inputs", "input"), (&self.outputs, "outputs", "output"), (&self.enums, "enums", "enums")]
        {
            if used.get() {
                let _ = writeln!(made, "import * as {name} from \"{up}/types/{file}\";");
            }
        }
        made
    }

    /// A value by itself.
    pub(super) fn value(&self, kind: &Type, side: Side) -> String {
        self.bare(kind, side, false, None).text
    }

    /// A value that may be an output.
    pub(super) fn input(&self, kind: &Type, is_optional: bool) -> String {
        self.wrapped(kind, is_optional, None)
    }

    /// A property, with `| undefined` where it may be absent, other than for plain ones: those have `?`.
    pub(super) fn property(&self, property: &Property, side: Side) -> String {
        let constant = property.constant.as_ref().and_then(|constant| constant.as_str());
        if side == Side::Input && !property.plain {
            self.wrapped(&property.kind, !property.required, constant)
        } else {
            self.bare(&property.kind, side, false, constant).text
        }
    }

    fn wrapped(&self, kind: &Type, is_optional: bool, constant: Option<&str>) -> String {
        let inner = self.bare(kind, Side::Input, true, constant).text;
        match (inner.as_str(), is_optional) {
            ("any", _) => inner,
            (_, true) => format!("pulumi.Input<{inner} | undefined>"),
            (_, false) => format!("pulumi.Input<{inner}>"),
        }
    }

    fn bare(&self, kind: &Type, side: Side, in_input: bool, constant: Option<&str>) -> TypeText {
        match kind {
            Type::Bool => "boolean".into(),
            Type::Integer | Type::Number => "number".into(),
            Type::String => {
                constant.map_or_else(|| "string".into(), |text| list([text])[1..].trim_end_matches(']').into())
            }
            Type::Any | Type::Json => "any".into(),
            Type::Archive => "pulumi.asset.Archive".into(),
            Type::Asset => TypeText { text: "pulumi.asset.Asset | pulumi.asset.Archive".to_owned(), is_union: true },
            Type::List(element) => {
                let inner = self.element(element, side);
                let text = if inner.is_union { format!("({})[]", inner.text) } else { format!("{}[]", inner.text) };
                TypeText { text, is_union: false }
            }
            Type::Map(element) => {
                let text = format!("{{[key: string]: {}}}", self.element(element, side).text);
                TypeText { text, is_union: false }
            }
            Type::Defined(id) => self.defined(*id, side),
            Type::Token(underlying) => self.bare(underlying, side, in_input, None),
            Type::Resource(token) => self.class(token).as_str().into(),
            Type::Provider => format!("import(\"{}/provider\").Provider", self.module.up()).as_str().into(),
            Type::Elsewhere(found) => external::named(found, &self.sdk.settings).as_str().into(),
            Type::Union(kinds) => self.union(kinds, side, in_input),
        }
    }

    fn element(&self, element: &Element, side: Side) -> TypeText {
        if side == Side::Input && !element.plain {
            TypeText { text: self.wrapped(&element.kind, false, None), is_union: false }
        } else {
            self.bare(&element.kind, side, false, None)
        }
    }

    fn union(&self, kinds: &[Type], side: Side, in_input: bool) -> TypeText {
        if side == Side::Output && self.sdk.settings.disable_union_output_types {
            return "any".into();
        }
        let mut parts: Vec<String> = Vec::new();
        for kind in kinds {
            let text = if side == Side::Input && !in_input {
                self.wrapped(kind, false, None)
            } else {
                self.bare(kind, side, in_input, None).text
            };
            if !parts.contains(&text) {
                parts.push(text);
            }
        }
        TypeText { is_union: parts.len() > 1, text: parts.join(" | ") }
    }

    fn defined(&self, id: TypeId, side: Side) -> TypeText {
        let definition = self.sdk.package.definition(id);
        if let Shape::Enum { base, .. } = &definition.shape {
            if definition.is_overlay {
                return self.bare(base, side, false, None);
            }
            self.enums.set(true);
            let folder = module_of(&definition.token, &self.sdk.settings).to_lowercase();
            let parts = folder.split('/').filter(|part| !part.is_empty()).map(identifier);
            return qualified("enums", parts, &title(&definition.token.name)).as_str().into();
        }
        let (root, used) = if side == Side::Output { ("outputs", &self.outputs) } else { ("inputs", &self.inputs) };
        used.set(true);
        let module = module_of(&definition.token, &self.sdk.settings);
        qualified(root, namespaces(module), &self.sdk.object_name(id, side)).as_str().into()
    }

    /// A class of this package. The file is named in the type, so that classes of the same name do not clash.
    fn class(&self, token: &Token) -> String {
        let found = self.sdk.package.resources.iter().find(|resource| resource.token.text == token.text);
        let name = found.map_or_else(|| title(&token.name), class_of);
        match self.sdk.modules.get(module_of(token, &self.sdk.settings)) {
            Some(module) if found.is_some_and(|found| !found.is_overlay) => {
                let file = module.path(&module.file(&name, self.sdk.package));
                format!("import(\"{}/{file}\").{name}", self.module.up())
            }
            // The code of an overlay is not in the schema.
            _ => "pulumi.Resource".to_owned(),
        }
    }
}

/// `inputs.apps.v1.Deployment`
fn qualified(root: &str, within: impl Iterator<Item = String>, name: &str) -> String {
    let mut made = root.to_owned();
    for part in within {
        made.push('.');
        made.push_str(&part);
    }
    made.push('.');
    made.push_str(name);
    made
}
