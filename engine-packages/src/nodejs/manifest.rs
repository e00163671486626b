//! What belongs to the package as a whole: its manifest, and the helper of its code.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};

use super::Sdk;
use super::external::npm_name;
use super::files::{CODE, Files, HEAD};
use super::names::quoted;
use crate::schema::{Element, Package, Property, Shape, Type};

const HELPER: &str = include_str!("utilities.js");
const HELPER_TYPES: &str = include_str!("utilities.d.ts");

/// The oldest SDK that the code runs with.
const PULUMI: &str = "^3.139.0";

pub(super) fn write(sdk: &Sdk, files: &mut Files) -> Result<(), String> {
    let package = sdk.package;
    if package.parameter.is_some() && package.version.is_empty() {
        return Err("the schema has a parameter and no version; a package that a parameter makes needs one".to_owned());
    }
    let optional = |text: &str| if text.is_empty() { "undefined".to_owned() } else { quoted(text) };
    let parameter = package.parameter.as_ref().map_or_else(String::new, |parameter| {
        let mut told = json!({
            "baseProviderName": parameter.plugin,
            "baseProviderVersion": parameter.plugin_version,
            "baseProviderDownloadUrl": server(package),
            "packageName": package.name,
            "packageVersion": package.version,
            "base64Parameter": STANDARD.encode(&parameter.value),
        });
        if package.is_extension {
            told["extension"] = json!(true);
        }
        format!("const PARAMETER = {told};\n")
    });
    let helper = format!(
        "{HEAD}{CODE}const VERSION = {};\nconst DOWNLOAD_URL = {};\n{parameter}\n{}",
        optional(&package.version),
        optional(&package.plugin_download_url),
        helper(package)
    );
    files.add("utilities.js".to_owned(), helper, "the helper")?;
    let mut types = format!("{HEAD}{HELPER_TYPES}");
    if package.parameter.is_some() {
        types.push_str("export declare function getPackage(): Promise<string | undefined>;\n");
    }
    files.add("utilities.d.ts".to_owned(), types, "the helper")?;
    let manifest = serde_json::to_string_pretty(&manifest(sdk)).map_err(|error| error.to_string())?;
    files.add("package.json".to_owned(), manifest + "\n", "the manifest")
}

/// The helper, without the parts that this package does not need.
fn helper(package: &Package) -> String {
    let has = |part: &str| match part {
        "parameter" => package.parameter.is_some(),
        "methods" => package.functions.iter().any(|function| function.is_method),
        _ => package.functions.iter().any(|function| !function.is_method),
    };
    let mut made = String::with_capacity(HELPER.len());
    let mut is_kept = true;
    for line in HELPER.split_inclusive('\n') {
        match line.trim_end() {
            "//#else" => is_kept = !is_kept,
            "//#end" => is_kept = true,
            mark => match mark.strip_prefix("//#if ") {
                Some(part) => is_kept = has(part),
                None if is_kept => made.push_str(line),
                None => {}
            },
        }
    }
    made
}

/// Where the plugin comes from; empty: from the usual place.
fn server(package: &Package) -> &str {
    match &package.parameter {
        Some(parameter) if package.plugin_download_url.is_empty() => &parameter.plugin_download_url,
        _ => &package.plugin_download_url,
    }
}

fn manifest(sdk: &Sdk) -> Json {
    let Sdk { package, settings, .. } = sdk;
    let name = if !settings.package_name.is_empty() {
        settings.package_name.clone()
    } else if package.namespace.is_empty() {
        format!("@pulumi/{}", package.name)
    } else {
        format!("@{}/{}", package.namespace, package.name)
    };
    let version = if package.version.is_empty() { "0.0.0" } else { &package.version };
    let description =
        if settings.package_description.is_empty() { &package.description } else { &settings.package_description };
    let mut made = Map::new();
    made.insert("name".to_owned(), json!(name));
    made.insert("version".to_owned(), json!(version));
    for (member, text) in [
        ("description", description),
        ("homepage", &package.homepage),
        ("repository", &package.repository),
        ("license", &package.license),
    ] {
        if !text.is_empty() {
            made.insert(member.to_owned(), json!(text));
        }
    }
    if !package.keywords.is_empty() {
        made.insert("keywords".to_owned(), json!(package.keywords));
    }
    made.insert("main".to_owned(), json!("index.js"));
    made.insert("types".to_owned(), json!("index.d.ts"));
    made.insert("dependencies".to_owned(), dependencies(sdk));
    if !settings.peer_dependencies.is_empty() {
        made.insert("peerDependencies".to_owned(), json!(settings.peer_dependencies));
    }
    made.insert("pulumi".to_owned(), plugin(package));
    Json::Object(made)
}

/// What the tools read to find the plugin.
fn plugin(package: &Package) -> Json {
    let mut made = Map::new();
    made.insert("resource".to_owned(), json!(true));
    let (name, version) = match &package.parameter {
        Some(parameter) => (&parameter.plugin, &parameter.plugin_version),
        None => (&package.name, &package.version),
    };
    made.insert("name".to_owned(), json!(name));
    for (member, text) in [("version", version.as_str()), ("server", server(package))] {
        if !text.is_empty() {
            made.insert(member.to_owned(), json!(text));
        }
    }
    if let Some(parameter) = &package.parameter {
        let value = STANDARD.encode(&parameter.value);
        let told = json!({ "name": package.name, "version": package.version, "value": value });
        let member = if package.is_extension { "extensionParameterization" } else { "parameterization" };
        made.insert(member.to_owned(), told);
    }
    Json::Object(made)
}

fn dependencies(sdk: &Sdk) -> Json {
    let Sdk { package, settings, .. } = sdk;
    let mut made = Map::new();
    if !settings.peer_dependencies.contains_key("@pulumi/pulumi") {
        made.insert("@pulumi/pulumi".to_owned(), json!(PULUMI));
    }
    let mut others = BTreeSet::new();
    for properties in all_properties(package) {
        for property in properties {
            elsewhere(&property.kind, &mut others);
        }
    }
    // What else the schema names is for code that others write by hand, which is not here.
    for (other, version) in others {
        let name = npm_name(&other, settings);
        let range = settings.dependencies.get(&name).cloned();
        let of_schema = || if version.is_empty() { "*".to_owned() } else { format!("^{version}") };
        made.entry(name).or_insert_with(|| json!(range.unwrap_or_else(of_schema)));
    }
    Json::Object(made)
}

fn all_properties(package: &Package) -> impl Iterator<Item = &[Property]> {
    let resources = package.resources.iter().chain([&package.provider]);
    let of_resources = resources.flat_map(|resource| {
        [&resource.inputs[..], &resource.outputs[..], resource.state.as_deref().unwrap_or_default()]
    });
    let of_types = package.types.iter().filter_map(|definition| match &definition.shape {
        Shape::Object(properties) => Some(&properties[..]),
        Shape::Enum { .. } => None,
    });
    let of_functions = package.functions.iter().flat_map(|function| {
        let result = match &function.result {
            Some(crate::schema::Outcome::Object { properties, .. }) => &properties[..],
            _ => &[],
        };
        [function.inputs.as_deref().unwrap_or_default(), result]
    });
    of_resources.chain(of_types).chain(of_functions).chain([&package.config[..]])
}

/// The packages whose classes a type names. Their objects are not named, so they are not needed.
fn elsewhere(kind: &Type, found: &mut BTreeSet<(String, String)>) {
    match kind {
        Type::Elsewhere(external) if external.is_resource => {
            found.insert((external.package.clone(), external.version.clone()));
        }
        Type::List(element) | Type::Map(element) => {
            let Element { kind, .. } = &**element;
            elsewhere(kind, found);
        }
        Type::Union(kinds) => kinds.iter().for_each(|kind| elsewhere(kind, found)),
        _ => {}
    }
}
