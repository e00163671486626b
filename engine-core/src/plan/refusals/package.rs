//! The refusals of what plugins and the built-in package cannot do.

use crate::builtin;
use crate::urn::{Urn, package_of};

use crate::plan::refusals::registration::RegistrationError;

impl RegistrationError {
    pub(in crate::plan) fn native_package(urn: &Urn, package: &str, version: &str) -> Self {
        let package = named(package, version);
        Self::on(
            urn,
            format!(
                "the package {package} is served by a plugin, and no provider resource was made for it; this is a bug in \
                 maloko"
            ),
        )
    }

    pub(in crate::plan) fn unknown_built_in(urn: &Urn, kind: &str) -> Self {
        Self::on(
            urn,
            format!(
                "the built-in package '{}' has no resource of the type '{kind}'; it has {}",
                builtin::PACKAGE,
                builtin::KINDS.join(" and ")
            ),
        )
    }
}

/// The refusal of a function or method of the built-in package, by its token.
#[must_use]
pub fn function_not_hosted(token: &str, version: &str) -> String {
    let package = named(package_of(token), version);
    format!("the function '{token}' belongs to the package {package}, which has none of that name")
}

/// A package as messages name it.
fn named(package: &str, version: &str) -> String {
    if version.is_empty() { format!("'{package}'") } else { format!("'{package}' (version {version})") }
}
