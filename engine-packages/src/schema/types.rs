//! References of a schema to its types, resources and modules.

use std::cell::RefCell;
use std::collections::HashMap;

use super::fault::{Result, SchemaFault};
use super::package::{Element, External, Token, Type, TypeId};
use super::spec::TypeSpec;

/// Types nested deeper are refused: no plugin means it, and a reader would run out of stack.
const MAX_DEPTH: usize = 64;

/// What references are looked up in.
pub(super) struct Names {
    pub package: String,
    pub format: ModuleFormat,
    /// By token, and by token in lower case: some schemas write a module in two ways.
    pub types: HashMap<String, TypeId>,
    pub resources: HashMap<String, Token>,
    /// What refers to types that the schema lacks, each as a message says it.
    pub dangling: RefCell<Vec<String>>,
}

/// Which part of a token's module is the module.
pub(super) struct ModuleFormat(Option<regex::Regex>);

impl ModuleFormat {
    pub(super) fn read(pattern: &str) -> Result<Self> {
        if pattern.is_empty() {
            return Ok(Self(None));
        }
        regex::Regex::new(pattern).map(|found| Self(Some(found))).map_err(|error| {
            SchemaFault::new("meta/moduleFormat", format!("'{pattern}' is no regular expression: {error}"))
        })
    }

    /// As in the reference, a module that does not fit the format is the top one.
    fn module<'a>(&self, raw: &'a str) -> &'a str {
        let module = match &self.0 {
            None => raw,
            Some(pattern) => pattern.captures(raw).and_then(|groups| groups.get(1)).map_or("", |group| group.as_str()),
        };
        if module == "index" { "" } else { module }
    }

    /// `package:module:name`.
    pub(super) fn token(&self, text: &str, place: &str) -> Result<Token> {
        let parts: Vec<&str> = text.split(':').collect();
        let [package, raw, name] = parts[..] else {
            return Err(SchemaFault::new(place, format!("'{text}' is no token: PACKAGE:MODULE:NAME")));
        };
        if name.is_empty() || name.starts_with('/') || name.contains("..") {
            return Err(SchemaFault::new(place, format!("'{text}' has no name that can be used")));
        }
        let module = if package == "pulumi" && raw == "providers" { "" } else { self.module(raw) };
        Ok(Token {
            text: text.to_owned(),
            module: module.to_owned(),
            raw_module: raw.to_owned(),
            name: name.to_owned(),
        })
    }
}

impl Names {
    /// What a type is, and whether it takes no outputs.
    pub(super) fn kind(&self, spec: &TypeSpec, place: &str) -> Result<Element> {
        self.at_depth(spec, place, 0)
    }

    fn at_depth(&self, spec: &TypeSpec, place: &str, depth: usize) -> Result<Element> {
        if depth > MAX_DEPTH {
            return Err(SchemaFault::new(place, format!("types are nested deeper than {MAX_DEPTH}")));
        }
        let kind = if let Some(reference) = &spec.reference {
            self.reference(reference, spec, place, depth)?
        } else if !spec.one_of.is_empty() {
            let each = spec.one_of.iter().map(|one| Ok(self.at_depth(one, place, depth + 1)?.kind));
            union(each.collect::<Result<_>>()?)
        } else {
            self.plain_kind(spec, place, depth)?
        };
        Ok(Element { kind, plain: spec.plain })
    }

    fn plain_kind(&self, spec: &TypeSpec, place: &str, depth: usize) -> Result<Type> {
        let within = |part: Option<&TypeSpec>, otherwise: Type| match part {
            Some(part) => Ok(Box::new(self.at_depth(part, place, depth + 1)?)),
            None => Ok(Box::new(Element { kind: otherwise, plain: false })),
        };
        match spec.kind.as_deref() {
            Some("boolean") => Ok(Type::Bool),
            Some("integer") => Ok(Type::Integer),
            Some("number") => Ok(Type::Number),
            Some("string") => Ok(Type::String),
            Some("array") => Ok(Type::List(within(spec.items.as_deref(), Type::Any)?)),
            // An object without properties is a map of texts, as in the reference.
            Some("object") => Ok(Type::Map(within(spec.additional_properties.as_deref(), Type::String)?)),
            Some(other) => {
                let known = "boolean, integer, number, string, array or object";
                Err(SchemaFault::new(place, format!("the type '{other}' is not known: {known}")))
            }
            None => Err(SchemaFault::new(place, "it has neither 'type' nor '$ref' nor 'oneOf'")),
        }
    }

    fn reference(&self, text: &str, spec: &TypeSpec, place: &str, depth: usize) -> Result<Type> {
        match text {
            "pulumi.json#/Any" => return Ok(Type::Any),
            "pulumi.json#/Json" => return Ok(Type::Json),
            "pulumi.json#/Asset" => return Ok(Type::Asset),
            "pulumi.json#/Archive" => return Ok(Type::Archive),
            "#/provider" => return Ok(Type::Provider),
            _ => {}
        }
        let unknown = || SchemaFault::new(place, format!("it refers to '{text}', which is not in the schema"));
        let (document, path) = text.split_once('#').ok_or_else(unknown)?;
        let (is_resource, written) = match path.strip_prefix("/types/") {
            Some(token) => (false, token),
            None => (true, path.strip_prefix("/resources/").ok_or_else(unknown)?),
        };
        let token = decoded(written);
        if !document.is_empty() {
            let external = external(document, &token, is_resource, place)?;
            if external.package != self.package {
                return Ok(Type::Elsewhere(external));
            }
        }
        if is_resource {
            let found = self.resources.get(&token).or_else(|| self.resources.get(&token.to_lowercase()));
            return found.cloned().map(Type::Resource).ok_or_else(unknown);
        }
        if let Some(found) = self.types.get(&token).or_else(|| self.types.get(&token.to_lowercase())) {
            return Ok(Type::Defined(*found));
        }
        // A name for a simple type, which schemas of old bridges have.
        match spec.kind.as_deref() {
            Some("boolean" | "integer" | "number" | "string") => {
                Ok(Type::Token(Box::new(self.plain_kind(spec, place, depth)?)))
            }
            // As in the reference: plugins that make a package of what a cluster has leave out types of other packages.
            _ => {
                self.dangling.borrow_mut().push(format!("{place} refers to '{text}'"));
                Ok(Type::Any)
            }
        }
    }
}

/// `/random/v4.1.2/schema.json` names the package and its version.
fn external(document: &str, token: &str, is_resource: bool, place: &str) -> Result<External> {
    let parts: Vec<&str> = document.trim_start_matches('/').split('/').collect();
    let fault =
        || SchemaFault::new(place, format!("it refers to '{document}', which is no /PACKAGE/vVERSION/schema.json"));
    let [package, version, "schema.json"] = parts[..] else { return Err(fault()) };
    // Its own format of modules is in its schema, which is not here. Nearly all are one of these.
    let format = ModuleFormat::read(if token.contains('/') { "(.*)(?:/[^/]*)" } else { "" })?;
    Ok(External {
        package: package.to_owned(),
        version: version.trim_start_matches('v').to_owned(),
        token: format.token(token, place)?,
        is_resource,
    })
}

/// A reference is part of an address: `%2F` stands for `/`.
fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Each one once, and those of unions within by themselves.
fn union(kinds: Vec<Type>) -> Type {
    let mut flat: Vec<Type> = Vec::new();
    for kind in kinds {
        let parts = if let Type::Union(parts) = kind { parts } else { vec![kind] };
        for part in parts {
            if !flat.contains(&part) {
                flat.push(part);
            }
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Type::Union(flat) }
}
