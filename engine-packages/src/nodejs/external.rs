//! Types of other packages.

use super::names::{camel, is_member, upper_first};
use super::settings::Settings;
use crate::schema::External;

/// The npm package that another package is.
pub(super) fn npm_name(package: &str, settings: &Settings) -> String {
    settings.provider_name_to_module_name.get(package).cloned().unwrap_or_else(|| format!("@pulumi/{package}"))
}

/// A type of another package in TypeScript.
///
/// The other package's schema is not here. A class has the same name in every package; how objects are called, and
/// whether it is an enumeration, only the schema says: those are `any`, which fits every program.
pub(super) fn named(found: &External, settings: &Settings) -> String {
    if !found.is_resource {
        return "any".to_owned();
    }
    let npm = npm_name(&found.package, settings);
    if found.token.text.starts_with("pulumi:providers:") {
        return format!("import(\"{npm}\").Provider");
    }
    // Bridged packages repeat the name of the class in the module: `ec2/vpc:Vpc`.
    let raw = found.token.raw_module.as_str();
    let module = match raw.rsplit_once('/') {
        Some((module, last)) if last.eq_ignore_ascii_case(&camel(&found.token.name)) => module,
        _ => raw,
    };
    let module = if module == "index" { "" } else { module };
    let parts: Vec<&str> = module.split('/').filter(|part| !part.is_empty()).collect();
    if !parts.iter().all(|part| is_member(part)) {
        return "any".to_owned();
    }
    let mut made = format!("import(\"{npm}\")");
    for part in parts {
        made.push('.');
        made.push_str(&part.to_lowercase());
    }
    made.push('.');
    made.push_str(&upper_first(&found.token.name));
    made
}
