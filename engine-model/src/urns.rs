//! URNs as docs/rules 1.1 writes them.

/// The project and the stack of every lifecycle.
pub const PROJECT: &str = "proj";
/// The stack.
pub const STACK: &str = "dev";
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

/// Is it the row of a provider?
#[must_use]
pub fn is_provider(urn: &str) -> bool {
    own_type(urn).starts_with("pulumi:providers:")
}

/// The type token of a resource.
#[must_use]
pub fn token(component: bool, other: bool) -> &'static str {
    match (component, other) {
        (true, false) => "my:mod:Group",
        (true, true) => "my:mod:Other",
        (false, false) => "pulumi-python:dynamic:Thing",
        (false, true) => "pulumi-python:dynamic:Other",
    }
}
