//! Types as type checkers read them, with the imports that they need.

use std::collections::BTreeSet;

use crate::schema::{Element, Property, Type};

use super::names::is_name;
use super::sdk::{Place, Sdk, Side, constant_of, foreign_module, foreign_package};
use super::tables::up_from;

/// How an object is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As an object of its class.
    Class,
    /// So, or as a dictionary.
    Either,
    /// As a dictionary.
    Dictionary,
}

/// A file of types that is being written.
#[derive(Debug)]
pub(super) struct Stub {
    pub module: String,
    pub file: String,
    imports: BTreeSet<String>,
}

impl Stub {
    pub(super) fn of(module: &str, file: &str) -> Self {
        Self { module: module.to_owned(), file: file.to_owned(), imports: BTreeSet::new() }
    }

    /// A class by the name that it has in this file.
    fn named(&mut self, place: &Place) -> String {
        if place.module == self.module && place.file == self.file {
            return place.name.clone();
        }
        let file = &place.file;
        let is_here = place.module == self.module;
        let from = if is_here { ".".to_owned() } else { up_from(&self.module) + &place.module.replace('/', ".") };
        let module = match (is_here, place.module.as_str()) {
            (true, _) => String::new(),
            (false, "") => "_root".to_owned(),
            (false, path) => format!("_{}", path.replace('/', "_")),
        };
        if ["_inputs", "outputs", "_enums"].contains(&file.as_str()) {
            let alias = format!("{module}_{}", file.trim_start_matches('_'));
            self.imports.insert(format!("from {from} import {file} as {alias}"));
            return format!("{alias}.{}", place.name);
        }
        let alias = format!("{module}_{}", place.name);
        let from = if from.ends_with('.') { from + file } else { from + "." + file };
        self.imports.insert(format!("from {from} import {} as {alias}", place.name));
        alias
    }

    /// The first lines of the file.
    pub(super) fn head(&self) -> String {
        let mut head = String::from(
            "import builtins as _b\nfrom typing import Any, Awaitable, Generator, Literal, Mapping, Optional, Sequence, Union, overload\n\nimport pulumi\nfrom typing_extensions import NotRequired, TypedDict\n",
        );
        for import in &self.imports {
            head.push_str(import);
            head.push('\n');
        }
        head
    }
}

impl Sdk<'_> {
    /// The type of a property. `optional`: it need not be given, whatever the property says.
    pub(super) fn stub_property(
        &self,
        stub: &mut Stub,
        property: &Property,
        side: Side,
        form: Form,
        optional: bool,
    ) -> String {
        let optional = optional || !property.required;
        let base = match constant_of(property).filter(|_| side == Side::Output) {
            Some(value) => format!("Literal[{value}]"),
            None => self.stub_kind(stub, &property.kind, side, form),
        };
        if base == "Any" {
            return base;
        }
        let base = if optional { format!("Optional[{base}]") } else { base };
        if side == Side::Input && !property.plain { format!("pulumi.Input[{base}]") } else { base }
    }

    fn stub_element(&self, stub: &mut Stub, element: &Element, side: Side, form: Form) -> String {
        let base = self.stub_kind(stub, &element.kind, side, form);
        if side == Side::Input && !element.plain && base != "Any" { format!("pulumi.Input[{base}]") } else { base }
    }

    pub(super) fn stub_kind(&self, stub: &mut Stub, kind: &Type, side: Side, form: Form) -> String {
        match kind {
            Type::Bool => "_b.bool".to_owned(),
            Type::Integer => "_b.int".to_owned(),
            Type::Number => "_b.float".to_owned(),
            Type::String => "_b.str".to_owned(),
            Type::Any | Type::Json => "Any".to_owned(),
            Type::Asset => "Union[pulumi.Asset, pulumi.Archive]".to_owned(),
            Type::Archive => "pulumi.Archive".to_owned(),
            Type::List(element) => format!("Sequence[{}]", self.stub_element(stub, element, side, form)),
            Type::Map(element) => format!("Mapping[_b.str, {}]", self.stub_element(stub, element, side, form)),
            Type::Token(kind) => self.stub_kind(stub, kind, side, form),
            Type::Provider => stub.named(&self.place_of(&self.package.provider)),
            Type::Resource(token) => match self.resource_place(token) {
                Some(place) => stub.named(&place),
                None => "pulumi.Resource".to_owned(),
            },
            Type::Defined(id) => {
                if self.package.definition(*id).is_overlay {
                    return "Any".to_owned();
                }
                let place = self.type_place(*id, side);
                let is_object = self.is_object(kind);
                if !is_object || side == Side::Output || form == Form::Class || !self.settings.has_dictionaries() {
                    return stub.named(&place);
                }
                let dictionary = stub.named(&Place { name: format!("{}Dict", place.name), ..place.clone() });
                if form == Form::Dictionary {
                    return dictionary;
                }
                // An output of one resource may be the input of another.
                let found = if self.marks[id.0].output {
                    format!(", {}", stub.named(&self.type_place(*id, Side::Output)))
                } else {
                    String::new()
                };
                format!("Union[{}, {dictionary}{found}]", stub.named(&place))
            }
            Type::Elsewhere(external) => {
                let package = foreign_package(external);
                // What no program can name is not named here.
                let module = foreign_module(external);
                let class = super::names::class(&external.token.name);
                let parts = [package.as_str(), class.as_str()];
                if !parts.into_iter().chain(module.split('.').filter(|part| !part.is_empty())).all(is_name) {
                    return "Any".to_owned();
                }
                stub.imports.insert(format!("import {package}"));
                let name = match side {
                    _ if external.is_resource => class,
                    Side::Output => format!("outputs.{class}"),
                    Side::Input | Side::Plain => format!("{class}Args"),
                };
                let module = if module.is_empty() { module } else { module + "." };
                let named = format!("{package}.{module}{name}");
                let may_be_mapping = !external.is_resource && side != Side::Output && form != Form::Class;
                if may_be_mapping { format!("pulumi.InputType[{named}]") } else { named }
            }
            Type::Union(kinds) => self.stub_union(stub, kinds, side, form),
        }
    }

    fn stub_union(&self, stub: &mut Stub, kinds: &[Type], side: Side, form: Form) -> String {
        if side == Side::Output {
            let base = kinds.iter().find_map(|kind| self.enum_base(kind));
            return base.map_or_else(|| "Any".to_owned(), |base| self.stub_kind(stub, base, side, form));
        }
        let mut texts: Vec<String> = Vec::new();
        for kind in kinds {
            let text = self.stub_kind(stub, kind, side, form);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if texts.len() == 1 { texts.remove(0) } else { format!("Union[{}]", texts.join(", ")) }
    }
}
