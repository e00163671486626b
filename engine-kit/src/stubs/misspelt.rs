//! Members of a schema that nobody reads, because they are misspelt.
//!
//! What a schema may say grows with Pulumi. So a member that is not known is no mistake by itself: it has to look like one that is
//! known, and that is missing beside it.

use std::borrow::Cow;

use maloko_core::message::suggestions::nearest;
use serde::Deserializer;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// A part of a schema.
#[derive(Clone, Copy)]
enum Part {
    Package,
    Meta,
    Config,
    Resource,
    Function,
    /// An object, or an enumeration.
    Definition,
    EnumValue,
    /// An object with properties, or a type.
    Outputs,
    Property,
    DefaultInfo,
    Parameterization,
    BaseProvider,
    Alias,
}

/// What stands at a member.
#[derive(Clone, Copy)]
enum Holds {
    One(Part),
    /// One for each name or token.
    Named(Part),
    List(Part),
    /// What is not looked into.
    Anything,
}

use Holds::{Anything, List, Named, One};

type Members = &'static [(&'static str, Holds)];

const OBJECT: [(&str, Holds); 7] = [
    ("type", Anything),
    ("description", Anything),
    ("properties", Named(Part::Property)),
    ("required", Anything),
    ("plain", Anything),
    ("language", Anything),
    ("isOverlay", Anything),
];
const TYPE: [(&str, Holds); 7] = [
    ("type", Anything),
    ("$ref", Anything),
    ("additionalProperties", One(Part::Property)),
    ("items", One(Part::Property)),
    ("oneOf", List(Part::Property)),
    ("plain", Anything),
    ("discriminator", Anything),
];

impl Part {
    /// The members of the published metaschema.
    fn members(self) -> [Members; 3] {
        match self {
            Self::Package => [
                &[
                    ("config", One(Part::Config)),
                    ("meta", One(Part::Meta)),
                    ("types", Named(Part::Definition)),
                    ("provider", One(Part::Resource)),
                    ("resources", Named(Part::Resource)),
                    ("functions", Named(Part::Function)),
                    ("parameterization", One(Part::Parameterization)),
                    ("extensionParameterization", One(Part::Parameterization)),
                    ("language", Anything),
                ],
                &[
                    ("name", Anything),
                    ("displayName", Anything),
                    ("version", Anything),
                    ("description", Anything),
                    ("keywords", Anything),
                    ("homepage", Anything),
                    ("license", Anything),
                    ("attribution", Anything),
                    ("repository", Anything),
                ],
                &[
                    ("logoUrl", Anything),
                    ("pluginDownloadURL", Anything),
                    ("publisher", Anything),
                    ("namespace", Anything),
                    ("allowedPackageNames", Anything),
                    ("dependencies", Anything),
                ],
            ],
            Self::Meta => [&[("moduleFormat", Anything), ("supportPack", Anything)], &[], &[]],
            Self::Config => [&[("variables", Named(Part::Property)), ("required", Anything)], &[], &[]],
            Self::Resource => [
                &OBJECT,
                &[
                    ("inputProperties", Named(Part::Property)),
                    ("requiredInputs", Anything),
                    ("plainInputs", Anything),
                    ("stateInputs", One(Part::Definition)),
                ],
                &[
                    ("aliases", List(Part::Alias)),
                    ("deprecationMessage", Anything),
                    ("isComponent", Anything),
                    ("methods", Anything),
                    ("overlaySupportedLanguages", Anything),
                ],
            ],
            Self::Function => [
                &[
                    ("description", Anything),
                    ("inputs", One(Part::Definition)),
                    ("outputs", One(Part::Outputs)),
                    ("multiArgumentInputs", Anything),
                ],
                &[
                    ("plain", Anything),
                    ("deprecationMessage", Anything),
                    ("isOverlay", Anything),
                    ("overlaySupportedLanguages", Anything),
                    ("language", Anything),
                ],
                &[],
            ],
            Self::Definition => {
                [&OBJECT, &[("enum", List(Part::EnumValue)), ("overlaySupportedLanguages", Anything)], &[]]
            }
            Self::EnumValue => [
                &[("name", Anything), ("description", Anything), ("value", Anything), ("deprecationMessage", Anything)],
                &[],
                &[],
            ],
            Self::Outputs => [&OBJECT, &TYPE, &[]],
            Self::Property => [
                &TYPE,
                &[
                    ("description", Anything),
                    ("const", Anything),
                    ("default", Anything),
                    ("defaultInfo", One(Part::DefaultInfo)),
                    ("deprecationMessage", Anything),
                    ("language", Anything),
                ],
                &[("secret", Anything), ("replaceOnChanges", Anything), ("willReplaceOnChanges", Anything)],
            ],
            Self::DefaultInfo => [&[("environment", Anything), ("language", Anything)], &[], &[]],
            Self::Parameterization => [&[("baseProvider", One(Part::BaseProvider)), ("parameter", Anything)], &[], &[]],
            Self::BaseProvider => {
                [&[("name", Anything), ("version", Anything), ("pluginDownloadURL", Anything)], &[], &[]]
            }
            Self::Alias => [&[("name", Anything), ("project", Anything), ("type", Anything)], &[], &[]],
        }
    }

    fn holds(self, member: &str) -> Option<Holds> {
        self.members().into_iter().flatten().find(|(name, _)| *name == member).map(|(_, holds)| *holds)
    }
}

/// The first member that is misspelt, in words. Nothing, where the document is no JSON: its reader says so.
pub(super) fn misspelt(document: &str) -> Option<String> {
    let mut found = None;
    let look = Look { holds: One(Part::Package), path: None, found: &mut found };
    let mut json = serde_json::Deserializer::from_str(document);
    // What is no JSON, and what stands behind it, is told by whoever reads the schema.
    look.deserialize(&mut json).ok()?;
    found
}

/// The way to a place.
struct Path<'a> {
    above: Option<&'a Path<'a>>,
    name: &'a str,
}

impl Path<'_> {
    fn text(&self) -> String {
        let above = self.above.map(|above| above.text() + "/").unwrap_or_default();
        above + self.name
    }
}

struct Look<'a> {
    holds: Holds,
    path: Option<&'a Path<'a>>,
    found: &'a mut Option<String>,
}

impl Look<'_> {
    fn note(&mut self, part: Part, unknown: &str, beside: &[Cow<'_, str>]) {
        let missing = part.members().into_iter().flatten().map(|(name, _)| *name);
        let missing = missing.filter(|name| beside.iter().all(|there| there != name));
        if let Some(near) = nearest(unknown, missing).filter(|_| self.found.is_none()) {
            let place = self.path.map(Path::text).unwrap_or_default();
            let place = if place.is_empty() { unknown.to_owned() } else { format!("{place}/{unknown}") };
            *self.found =
                Some(format!("the schema, at {place}: no schema has such a member here; did you mean '{near}'?"));
        }
    }
}

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = ();

    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut names: Vec<Cow<'de, str>> = Vec::new();
        let mut unknown = Vec::new();
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            let holds = match self.holds {
                One(part) => {
                    let holds = part.holds(&name);
                    if holds.is_none() {
                        unknown.push(names.len());
                    }
                    holds.unwrap_or(Anything)
                }
                Named(part) => One(part),
                List(_) | Anything => Anything,
            };
            if matches!(holds, Anything) {
                map.next_value::<IgnoredAny>()?;
            } else {
                let path = Path { above: self.path, name: &name };
                map.next_value_seed(Look { holds, path: Some(&path), found: self.found })?;
            }
            names.push(name);
        }
        if let One(part) = self.holds {
            for at in unknown {
                self.note(part, &names[at], &names);
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let holds = if let List(part) = self.holds { One(part) } else { Anything };
        let mut at = 0;
        loop {
            let name = at.to_string();
            let path = Path { above: self.path, name: &name };
            if items.next_element_seed(Look { holds, path: Some(&path), found: self.found })?.is_none() {
                return Ok(());
            }
            at += 1;
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
