//! Code that declares an imported resource of a package, with the class that the package's SDK has for it.
//!
//! SDKs are generated from schemas, and name what they have after type tokens: `aws:s3/bucket:Bucket` is `aws.s3.Bucket`.

use std::collections::BTreeSet;

use maloko_core::resource_state::ResourceState;
use maloko_core::urn::package_of;
use maloko_core::value::PropertyMap;

use super::constructors::snake;
use super::source_text::{identifier, object, options, quoted, value};
use crate::language_host::Language;

/// The statement that declares a resource.
pub(super) fn statement(resource: &ResourceState, language: Language, imports: &mut BTreeSet<String>) -> String {
    let package = package_of(&resource.kind);
    let variable = identifier(resource.urn.name(), language);
    // What a bridged provider notes for itself is no input of its class.
    let mut inputs: PropertyMap = (*resource.inputs).clone();
    inputs.retain(|key, _| !key.starts_with("__"));
    let name = quoted(resource.urn.name());
    let options = options(resource, language);
    match language {
        Language::Python => {
            let sdk = package.replace('-', "_");
            imports.insert(format!("import pulumi_{sdk} as {sdk}"));
            let keywords = inputs.iter().map(|(key, input)| format!(", {}={}", snake(key), value(input, language, 0)));
            let keywords: String = keywords.collect();
            format!("{variable} = {}({name}{keywords}, opts={options})\n", class(&sdk, &resource.kind))
        }
        Language::NodeJs => {
            let sdk = identifier(package, language);
            imports.insert(format!("import * as {sdk} from \"@pulumi/{package}\";"));
            let inputs = object(&inputs, language, 0);
            format!("const {variable} = new {}({name}, {inputs}, {options});\n", class(&sdk, &resource.kind))
        }
    }
}

/// The class of a type token below its SDK: without the module `index`, and without what stands behind a module's name.
fn class(sdk: &str, kind: &str) -> String {
    let mut parts = kind.split(':').skip(1);
    let module = parts.next().and_then(|module| module.split('/').next()).unwrap_or_default();
    let name = parts.next().unwrap_or_default();
    if module.is_empty() || module == "index" { format!("{sdk}.{name}") } else { format!("{sdk}.{module}.{name}") }
}
