//! Types as texts that the runtime reads when it needs them. `_` is the package itself.

use crate::schema::{Property, Type};

use super::literal::text;
use super::sdk::{Place, Sdk, Side, constant_of, foreign_module, foreign_package};

impl Sdk<'_> {
    /// What the Pulumi SDK has to know of a property to translate its value.
    pub(super) fn property_kind(&self, property: &Property, side: Side) -> String {
        match constant_of(property) {
            Some(value) => format!("Literal[{value}]"),
            None => self.kind(&property.kind, side),
        }
    }

    pub(super) fn kind(&self, kind: &Type, side: Side) -> String {
        match kind {
            Type::Bool => "bool".to_owned(),
            Type::Integer => "int".to_owned(),
            Type::Number => "float".to_owned(),
            Type::String => "str".to_owned(),
            Type::Any | Type::Json => "Any".to_owned(),
            Type::Asset => "Union[pulumi.Asset, pulumi.Archive]".to_owned(),
            Type::Archive => "pulumi.Archive".to_owned(),
            Type::List(element) => format!("Sequence[{}]", self.kind(&element.kind, side)),
            Type::Map(element) => format!("Mapping[str, {}]", self.kind(&element.kind, side)),
            Type::Token(kind) => self.kind(kind, side),
            Type::Provider => "_.Provider".to_owned(),
            Type::Resource(token) => match self.resource_place(token) {
                // Where a file is named as its class, the package has the class under that name.
                Some(place) if self.settings.has_files_named_as_classes() => {
                    dotted(&Place { file: String::new(), ..place })
                }
                Some(place) => dotted(&place),
                None => "pulumi.Resource".to_owned(),
            },
            Type::Defined(id) => {
                let is_written = !self.package.definition(*id).is_overlay;
                if is_written { dotted(&self.type_place(*id, side)) } else { "Any".to_owned() }
            }
            Type::Elsewhere(external) => {
                let name = super::names::class(&external.token.name);
                let names = match side {
                    _ if external.is_resource => vec![name],
                    Side::Output => vec![format!("outputs.{name}"), format!("outputs.{name}Result"), name],
                    Side::Input | Side::Plain => vec![format!("{name}Args"), name],
                };
                let place = [foreign_package(external), foreign_module(external)];
                let told: Vec<String> = place.iter().chain(&names).map(|part| text(part)).collect();
                format!("foreign({})", told.join(", "))
            }
            Type::Union(kinds) => self.union(kinds, side),
        }
    }

    /// The Pulumi SDK can make nothing of several types in outputs, but a relaxed enumeration is of one type.
    fn union(&self, kinds: &[Type], side: Side) -> String {
        if side == Side::Output {
            let base = kinds.iter().find_map(|kind| self.enum_base(kind));
            return base.map_or_else(|| "Any".to_owned(), |base| self.kind(base, side));
        }
        let mut texts: Vec<String> = Vec::new();
        for kind in kinds {
            let text = self.kind(kind, side);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        if texts.len() == 1 { texts.remove(0) } else { format!("Union[{}]", texts.join(", ")) }
    }
}

fn dotted(place: &Place) -> String {
    let parts = place.module.split('/').chain([place.file.as_str(), place.name.as_str()]);
    parts.filter(|part| !part.is_empty()).fold("_".to_owned(), |made, part| made + "." + part)
}
