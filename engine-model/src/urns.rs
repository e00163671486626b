//! URNs as docs/rules 1.1 writes them.

use crate::program::Resource;

/// The project and the stack of every lifecycle.
pub const PROJECT: &str = "proj";
/// The stack.
pub const STACK: &str = "dev";
/// What begins the types of providers.
const PROVIDER_TYPE: &str = "pulumi:providers:";
/// The package of dynamic resources.
const DYNAMIC: &str = "pulumi-python";
/// Type of the root stack.
pub const STACK_TYPE: &str = "pulumi:pulumi:Stack";

/// The URN of a resource with this parent.
#[must_use]
pub fn urn(parent: Option<&str>, kind: &str, name: &str) -> String {
    let prefix = match parent.map(qualified_type) {
        None | Some(STACK_TYPE) => String::new(),
        Some(parent) => format!("{parent}$"),
    };
    format!("urn:pulumi:{STACK}::{PROJECT}::{prefix}{kind}::{name}")
}

/// The URN of the root stack.
#[must_use]
pub fn stack() -> String {
    urn(None, STACK_TYPE, &format!("{PROJECT}-{STACK}"))
}

/// The type with the parents' types before it.
#[must_use]
pub fn qualified_type(urn: &str) -> &str {
    urn.split("::").nth(2).unwrap_or_default()
}

/// The type without them.
#[must_use]
pub fn own_type(urn: &str) -> &str {
    qualified_type(urn).rsplit('$').next().unwrap_or_default()
}

/// Is it the state of a provider?
#[must_use]
pub fn is_provider(urn: &str) -> bool {
    own_type(urn).starts_with(PROVIDER_TYPE)
}

/// Is it the resource that the engine keeps for dynamic resources? It holds nothing, and the model does not follow it.
#[must_use]
pub fn is_dynamic_provider(urn: &str) -> bool {
    is_provider(urn) && own_type(urn).ends_with(DYNAMIC)
}

/// The type token of a resource; `other` is the less usual one.
#[must_use]
pub fn token(resource: &Resource, other: bool) -> String {
    let (module, kinds) = match (&resource.package, resource.component) {
        (Some(package), _) if resource.is_provider => return format!("{PROVIDER_TYPE}{package}"),
        (Some(package), _) => (format!("{package}:index"), ["Thing", "Other"]),
        (None, true) => ("my:mod".to_owned(), ["Group", "Other"]),
        (None, false) => (format!("{DYNAMIC}:dynamic"), ["Thing", "Other"]),
    };
    format!("{module}:{}", kinds[usize::from(other)])
}
