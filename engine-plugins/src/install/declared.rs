//! Which plugins the installed SDKs of packages ask for: `pulumi-plugin.json` in a Python package, `pulumi` in a package.json.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use maloko_core::operation::AdoptedPackage;
use maloko_core::plugin::{PackageParameter, PackageRequest};
use maloko_core::provider::ExtensionParameter;
use semver::Version;
use serde::Deserialize;

use super::http::shown;

/// Deeper nesting of `node_modules` goes round in circles.
const MAX_DEPTH: usize = 16;

/// The plugin that an SDK asks for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeclaredPlugin {
    /// Its name: that of the package that it serves, if it is not made from a parameter.
    pub name: String,
    /// The package that the SDK is of.
    pub package: String,
    /// Its version; empty if the SDK does not say.
    pub version: String,
    /// Where it comes from; empty for the usual places.
    pub url: String,
    /// What the plugin makes the package of, and whether it extends the plugin's own by that; `None` where it is the plugin's own.
    made_of: Option<(ExtensionParameter, Role)>,
    /// The file that says so.
    pub file: PathBuf,
}

/// What a package that a plugin makes of a parameter is to the plugin's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    /// It takes its place.
    Replaces,
    /// The plugin serves both.
    Extends,
}

impl DeclaredPlugin {
    /// The package that the SDK is of, as its program asks for it.
    #[must_use]
    pub fn adopted_package(&self) -> AdoptedPackage {
        let own = PackageRequest {
            name: self.name.clone(),
            version: self.version.clone(),
            download_url: self.url.clone(),
            ..PackageRequest::default()
        };
        match self.made_of.clone() {
            None => AdoptedPackage { request: own, extension: None },
            Some((extension, Role::Extends)) => AdoptedPackage { request: own, extension: Some(extension) },
            Some((ExtensionParameter { name, version, value }, Role::Replaces)) => {
                let parameter = Some(PackageParameter { plugin: own.name, version: own.version, value });
                AdoptedPackage { request: PackageRequest { name, version, parameter, ..own }, extension: None }
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PluginFile {
    #[serde(default)]
    resource: bool,
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    server: String,
    parameterization: Option<ExtensionParameter>,
    extension_parameterization: Option<ExtensionParameter>,
}

#[derive(Deserialize)]
struct PackageFile {
    #[serde(default)]
    name: String,
    #[serde(default)]
    version: String,
    pulumi: Option<PluginFile>,
}

/// The plugins that SDKs in these folders ask for, each once. A folder `node_modules` has packages that have such a folder
/// themselves.
#[must_use]
pub fn declared_plugins(folders: &[PathBuf]) -> Vec<DeclaredPlugin> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for folder in folders {
        if folder.file_name().is_some_and(|name| name == "node_modules") {
            in_modules(folder, MAX_DEPTH, &mut seen, &mut found);
        } else {
            found.extend(inside(folder).filter_map(|package| of_python(&package).or_else(|| of_node(&package))));
        }
    }
    found.sort();
    found.dedup_by(|one, other| {
        (&one.name, &one.package, &one.version, &one.url) == (&other.name, &other.package, &other.version, &other.url)
    });
    found
}

/// The plugin of a package, in the newest version that an SDK asks for.
#[must_use]
pub fn declared_plugin(folders: &[PathBuf], package: &str) -> Option<DeclaredPlugin> {
    newest_of(&declared_plugins(folders), package).cloned()
}

/// The same, among those that were found.
#[must_use]
pub fn newest_of<'a>(declared: &'a [DeclaredPlugin], package: &str) -> Option<&'a DeclaredPlugin> {
    let named = declared.iter().filter(|plugin| plugin.package == package);
    named.max_by_key(|plugin| Version::parse(&plugin.version).ok())
}

/// What is wrong where installed SDKs of one package name different places of its plugin: none of them is right by itself.
#[must_use]
pub fn ambiguous_places(folders: &[PathBuf], package: &str) -> Option<String> {
    let mut named = declared_plugins(folders).into_iter().filter(|plugin| plugin.package == package);
    let first = named.next()?;
    let other = named.find(|plugin| plugin.url != first.url)?;
    let place = |plugin: &DeclaredPlugin| {
        let from = if plugin.url.is_empty() { "the usual places".to_owned() } else { shown(&plugin.url) };
        format!("{from} ({})", plugin.file.display())
    };
    Some(format!(
        "the installed SDKs of '{package}' are ambiguous: its plugin is to come from {}, and from {}; uninstall one of them, or \
         name a version and a download URL in the program",
        place(&first),
        place(&other)
    ))
}

fn inside(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

fn of_python(package: &Path) -> Option<DeclaredPlugin> {
    let file = package.join("pulumi-plugin.json");
    let plugin: PluginFile = serde_json::from_slice(&std::fs::read(&file).ok()?).ok()?;
    let name = package.file_name()?.to_str()?.strip_prefix("pulumi_").unwrap_or_default().replace('_', "-");
    declared(plugin, &name, "", file)
}

fn in_modules(modules: &Path, depth: usize, seen: &mut BTreeSet<PathBuf>, found: &mut Vec<DeclaredPlugin>) {
    // Links lead to packages and back.
    let Ok(modules) = modules.canonicalize() else { return };
    if depth == 0 || !seen.insert(modules.clone()) {
        return;
    }
    for package in inside(&modules) {
        let name = package.file_name().unwrap_or_default().to_string_lossy();
        let packages = if name.starts_with('@') { inside(&package).collect() } else { vec![package] };
        for package in packages.iter().filter_map(|package| package.canonicalize().ok()) {
            found.extend(of_node(&package));
            in_modules(&package.join("node_modules"), depth - 1, seen, found);
        }
    }
}

fn of_node(package: &Path) -> Option<DeclaredPlugin> {
    let file = package.join("package.json");
    let bytes = std::fs::read(&file).ok()?;
    let PackageFile { name, version, pulumi } = serde_json::from_slice(&bytes).ok()?;
    let name = name.rsplit('/').next().unwrap_or_default();
    declared(pulumi?, name, &version, file)
}

fn declared(plugin: PluginFile, name: &str, version: &str, file: PathBuf) -> Option<DeclaredPlugin> {
    let PluginFile { resource, name: own, version: own_version, server: url, .. } = plugin;
    let name = if own.is_empty() { name.to_owned() } else { own };
    let replaces = plugin.parameterization.map(|made| (made, Role::Replaces));
    let made_of = replaces.or(plugin.extension_parameterization.map(|made| (made, Role::Extends)));
    let made_of = made_of.filter(|(made, _)| !made.name.is_empty());
    let package = made_of.as_ref().map_or(&name, |(made, _)| &made.name).clone();
    let version = if own_version.is_empty() { version } else { &own_version };
    let version = version.strip_prefix('v').unwrap_or(version).to_owned();
    (resource && !name.is_empty()).then_some(DeclaredPlugin { name, package, version, url, made_of, file })
}

#[cfg(test)]
#[path = "declared_tests.rs"]
mod tests;
