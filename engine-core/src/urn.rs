//! Uniform resource names: the identity of a resource within a stack.

use std::borrow::Borrow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A map by URN. Its hash is made for short texts: URNs are looked up several times for each registration, and are no more
/// an attacker's to choose than the program is. It is the same in every run, and so is the order of what is in it.
pub type UrnMap<V> = HashMap<Urn, V, foldhash::fast::FixedState>;
/// A set of URNs, like [`UrnMap`].
pub type UrnSet = HashSet<Urn, foldhash::fast::FixedState>;

const PREFIX: &str = "urn:pulumi:";
/// The type of the resource that stands for the stack itself.
pub const STACK_TYPE: &str = "pulumi:pulumi:Stack";
const PROVIDER_TYPE_PREFIX: &str = "pulumi:providers:";

/// A URN: `urn:pulumi:<stack>::<project>::<qualified type>::<name>`. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Urn(Arc<str>);

impl Urn {
    /// The URN of a resource. `parent_type` is the parent's qualified type, if it has a parent other than the stack.
    #[must_use]
    pub fn new(stack: &str, project: &str, parent_type: &str, own_type: &str, name: &str) -> Self {
        let (parent_type, chained) =
            if parent_type.is_empty() || parent_type == STACK_TYPE { ("", "") } else { (parent_type, "$") };
        // Every registration makes one: put together at once, without the steps of a formatter.
        Self([PREFIX, stack, "::", project, "::", parent_type, chained, own_type, "::", name].concat().into())
    }

    /// Reads a URN; `None` when the text has not the shape of one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        (rest.splitn(4, "::").count() == 4).then(|| Self(text.into()))
    }

    /// Takes a text as it is, such as one that stands in a state file.
    #[must_use]
    pub fn unchecked(text: &str) -> Self {
        Self(text.into())
    }

    /// The whole text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn part(&self, index: usize) -> &str {
        let mut rest = self.0.strip_prefix(PREFIX).unwrap_or("");
        for _ in 0..index {
            let Some((_, after)) = at_colons(rest) else { return "" };
            rest = after;
        }
        if index == 3 { rest } else { at_colons(rest).map_or(rest, |(part, _)| part) }
    }

    /// The short name of the stack.
    #[must_use]
    pub fn stack(&self) -> &str {
        self.part(0)
    }

    /// The name of the project.
    #[must_use]
    pub fn project(&self) -> &str {
        self.part(1)
    }

    /// The type with the chain of parent types before it: `a:b:Parent$c:d:Child`.
    #[must_use]
    pub fn qualified_type(&self) -> &str {
        self.part(2)
    }

    /// The resource's own type.
    #[must_use]
    pub fn own_type(&self) -> &str {
        let qualified = self.qualified_type();
        let chained = qualified.bytes().rposition(|byte| byte == b'$');
        chained.map_or(qualified, |place| &qualified[place + 1..])
    }

    /// The packages of the resources that it is below, the nearest first.
    pub fn packages_above(&self) -> impl Iterator<Item = &str> {
        self.qualified_type().rsplit('$').skip(1).map(package_of)
    }

    /// The resource's name; it may itself contain `::`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.part(3)
    }

    /// The same resource under another name.
    #[must_use]
    pub fn renamed(&self, name: &str) -> Self {
        Self(format!("{PREFIX}{}::{}::{}::{name}", self.stack(), self.project(), self.qualified_type()).into())
    }

    /// Is this the resource that stands for the stack itself?
    #[must_use]
    pub fn is_root_stack(&self) -> bool {
        self.qualified_type() == STACK_TYPE
    }

    /// The package that a provider resource serves, `None` for other resources.
    #[must_use]
    pub fn provider_package(&self) -> Option<&str> {
        self.own_type().strip_prefix(PROVIDER_TYPE_PREFIX)
    }

    /// Is this a provider that the engine made by itself?
    #[must_use]
    pub fn is_default_provider(&self) -> bool {
        self.provider_package().is_some() && self.name().starts_with("default")
    }
}

/// The text before the first `::`, and after it. URNs are short and are taken apart often, so nothing is prepared for the search.
fn at_colons(text: &str) -> Option<(&str, &str)> {
    let place = text.as_bytes().windows(2).position(|pair| pair == b"::")?;
    Some((&text[..place], &text[place + 2..]))
}

/// The URN and the id of a reference to a provider resource, `<URN>::<id>`.
#[must_use]
pub fn reference_parts(reference: &str) -> Option<(&str, &str)> {
    let place = reference.as_bytes().windows(2).rposition(|pair| pair == b"::")?;
    Some((&reference[..place], &reference[place + 2..]))
}

/// The package of a type, `package:module:Name`.
#[must_use]
pub fn package_of(kind: &str) -> &str {
    kind.bytes().position(|byte| byte == b':').map_or(kind, |place| &kind[..place])
}

impl Default for Urn {
    fn default() -> Self {
        static EMPTY: std::sync::LazyLock<Arc<str>> = std::sync::LazyLock::new(|| Arc::from(""));
        Self(Arc::clone(&EMPTY))
    }
}

impl fmt::Display for Urn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Urn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What is kept by URN is found by its text.
impl Borrow<str> for Urn {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Urn {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
#[path = "urn_tests.rs"]
mod tests;
