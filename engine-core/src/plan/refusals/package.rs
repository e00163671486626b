//! The refusals of what belongs to packages that maloko does not host: their resources, components, functions and
//! packages made from a parameter.

use crate::builtin;
use crate::urn::{Urn, package_of};

use crate::plan::refusals::registration::RegistrationError;

impl RegistrationError {
    pub(in crate::plan) fn native_package(urn: &Urn, package: &str, version: &str) -> Self {
        let package = named(package, version);
        Self::on(
            urn,
            format!(
                "the package {package} is not a dynamic one: maloko runs programs whose custom resources are \
                 pulumi.dynamic ones and does not host native plugins; deploy this resource with the pulumi command line, \
                 or write a dynamic provider for it"
            ),
        )
    }

    pub(in crate::plan) fn remote_component(urn: &Urn, package: &str, version: &str) -> Self {
        let package = named(package, version);
        Self::on(
            urn,
            format!(
                "the package {package} is not a dynamic one: this is a remote component, whose resources a plugin of that \
                 package makes, and maloko does not host plugins; deploy it with the pulumi command line, or write it as a \
                 component of the program"
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

/// The refusal of a function or method, by its token, whose package has no host here.
#[must_use]
pub fn function_not_hosted(what: &str, token: &str, version: &str) -> String {
    let package = package_of(token);
    let reason = if package == builtin::PACKAGE {
        "which has none of that name"
    } else {
        "which is not a dynamic one: maloko does not host native plugins"
    };
    format!("the {what} '{token}' belongs to the package {}, {reason}", named(package, version))
}

/// The refusal of a package that a program asks for; `of`: the package that makes it from a parameter.
#[must_use]
pub fn package_not_hosted(package: (&str, &str), of: Option<(&str, &str)>) -> String {
    let from = of.map(|(name, version)| format!(" of the package {}", named(name, version))).unwrap_or_default();
    format!(
        "the package {}{from} is not a dynamic one: maloko does not host native plugins; deploy its resources with the \
         pulumi command line, or write a dynamic provider for them",
        named(package.0, package.1)
    )
}

/// A package as messages name it.
fn named(package: &str, version: &str) -> String {
    if version.is_empty() { format!("'{package}'") } else { format!("'{package}' (version {version})") }
}
