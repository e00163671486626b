//! What Pulumi.yaml says about plugins: the packages that the project lists, and the folders that have plugins.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use maloko_core::message::suggestions::instead;
use maloko_plugins::{GitSource, ProjectPlugin};
use serde_norway::{Number, Value};

use super::Reader;
use crate::failure::Result;
use crate::yaml::describe;

/// The plugins that a project has in folders: those under `plugins.providers`, then the packages whose source is a folder, with
/// the packages that these list themselves.
pub(super) fn read_all(root: &Value, directory: &Path) -> Vec<ProjectPlugin> {
    let mut plugins = listed(root, "providers");
    let mut seen = BTreeSet::new();
    let mut below = vec![(root.clone(), PathBuf::new())];
    while let Some((file, place)) = below.pop() {
        for (name, source) in folders(&file) {
            let plugin =
                ProjectPlugin { name, path: place.join(source.trim_start_matches("./")), version: String::new() };
            let folder = directory.join(&plugin.path);
            // Packages may list each other, under ever longer paths.
            if !seen.insert((plugin.name.clone(), folder.canonicalize().unwrap_or_else(|_| folder.clone()))) {
                continue;
            }
            let manifest = std::fs::read_to_string(folder.join("PulumiPlugin.yaml"));
            let read = manifest.ok().and_then(|text| serde_norway::from_str(&text).ok());
            below.extend(read.map(|read: Value| (read, plugin.path.clone())));
            plugins.push(plugin);
        }
    }
    plugins
}

/// The plugins of a kind that a project names under `plugins`.
pub(super) fn listed(root: &Value, kind: &str) -> Vec<ProjectPlugin> {
    let listed = root.get("plugins").and_then(|plugins| plugins.get(kind)).and_then(Value::as_sequence);
    let text = |entry: &Value, key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let listed = listed.into_iter().flatten().map(|entry| ProjectPlugin {
        name: text(entry, "name"),
        path: text(entry, "path").into(),
        version: text(entry, "version"),
    });
    listed.filter(|plugin| !plugin.name.is_empty() && !plugin.path.as_os_str().is_empty()).collect()
}

/// The packages of a file whose source is a folder.
fn folders(file: &Value) -> Vec<(String, String)> {
    let listed = file.get("packages").and_then(Value::as_mapping).into_iter().flatten();
    let sources = listed.filter_map(|(name, value)| Some((name.as_str()?.to_owned(), source_of(value).to_owned())));
    sources.filter(|(_, source)| is_folder(source)).collect()
}

fn source_of(package: &Value) -> &str {
    package.as_str().or_else(|| package.get("source").and_then(Value::as_str)).unwrap_or_default()
}

fn is_folder(source: &str) -> bool {
    Path::new(source).is_absolute() || matches!(source.split('/').next(), Some("." | ".."))
}

/// A package that a project file lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListedPackage {
    /// Its name.
    pub(crate) name: String,
    /// The name of its plugin, which another package may have.
    pub(crate) plugin: String,
    /// The plugin's version; empty for any.
    pub(crate) version: String,
    /// The repository that the plugin is in, as SDKs name it; else empty.
    pub(crate) repository: String,
    /// Where the plugin comes from, as the file says it: its name, a folder or a repository, with `@version` where that is said.
    pub(crate) source: String,
    /// What the plugin makes the package of.
    pub(crate) parameters: Vec<String>,
}

impl ListedPackage {
    /// What its SDK is made of, in one line.
    pub(crate) fn origin(&self) -> String {
        origin(&self.source, &self.parameters)
    }
}

/// What an SDK is made of, in one line: a source with its version, and parameters.
pub(crate) fn origin(source: &str, parameters: &[String]) -> String {
    std::iter::once(source).chain(parameters.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// The native packages that a project file lists: `name: plugin@version`, or `name: {source: plugin, version: ..., parameters:
/// [...]}`. A source that is a folder or a repository does not say how the plugin is called.
pub(super) fn packages(reader: &Reader<'_>, root: &Value) -> Result<Vec<ListedPackage>> {
    match root.get("packages") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Mapping(listed)) => listed.iter().map(|(name, value)| package(reader, root, name, value)).collect(),
        Some(other) => {
            let message = format!("`packages` must be a mapping of names to sources; it is {}", describe(other));
            Err(reader.failure(&["packages"], &message))
        }
    }
}

fn package(reader: &Reader<'_>, root: &Value, name: &Value, value: &Value) -> Result<ListedPackage> {
    let name = name.as_str().ok_or_else(|| {
        let message = format!("a name under `packages` must be a text; one is {}", describe(name));
        reader.failure(&["packages"], &message)
    })?;
    let within = |key: &'static str| ["packages", name, key];
    let (source, own) = match value {
        Value::String(source) => (source.clone(), String::new()),
        Value::Mapping(members) => {
            for member in members.keys() {
                check_member(reader, name, member)?;
            }
            if let Some(Value::Number(number)) = members.get("version") {
                check_number(reader, &within("version"), number)?;
            }
            (
                reader.text(root, &within("source"))?.unwrap_or_default(),
                reader.text(root, &within("version"))?.unwrap_or_default(),
            )
        }
        other => {
            let message = format!("`packages.{name}` must say where its plugin comes from; it is {}", describe(other));
            return Err(reader.failure(&["packages", name], &message));
        }
    };
    if source.is_empty() {
        let message = format!("`packages.{name}` has no `source`, such as `source: terraform-provider`");
        return Err(reader.failure(&["packages", name], &message));
    }
    let (source, version) = source.split_once('@').unwrap_or((&source, ""));
    let version = if own.is_empty() { version } else { &own };
    let whole = if version.is_empty() { source.to_owned() } else { format!("{source}@{version}") };
    let is_name = !source.contains(['/', '\\']) && !source.starts_with('.');
    let plugin = if is_name { source.to_owned() } else { name.to_owned() };
    let git = GitSource::read(&whole).map_err(|wrong| reader.failure(&["packages", name], &wrong))?;
    let (repository, version) = match git {
        Some(git) => (git.url, git.version),
        None => (String::new(), if is_name { version.to_owned() } else { String::new() }),
    };
    let parameters = parameters(reader, name, value.get("parameters"))?;
    Ok(ListedPackage { name: name.to_owned(), plugin, version, repository, source: whole, parameters })
}

/// What Pulumi knows of a package, and what maloko needs of it.
const MEMBERS: [&str; 6] = ["source", "version", "parameters", "checksums", "server", "pluginDownloadURL"];

fn check_member(reader: &Reader<'_>, package: &str, member: &Value) -> Result<()> {
    let written = member.as_str().unwrap_or_default();
    if MEMBERS.contains(&written) {
        return Ok(());
    }
    let hint = instead(written, MEMBERS, "there are");
    let message = format!("`packages.{package}` has no member `{written}`; {hint}");
    Err(reader.failure(&["packages", package], &message))
}

/// YAML reads 3.10 as the number 3.1, which is another version.
fn check_number(reader: &Reader<'_>, place: &[&str], number: &Number) -> Result<()> {
    if number.is_i64() || number.is_u64() {
        return Ok(());
    }
    let message =
        format!("`{}` has a version that YAML reads as the number {number}; write it in quotes", place.join("."));
    Err(reader.failure(place, &message))
}

fn parameters(reader: &Reader<'_>, package: &str, value: Option<&Value>) -> Result<Vec<String>> {
    let wrong = |value: &Value| {
        let message = format!("`packages.{package}.parameters` must be a list of texts; there is {}", describe(value));
        reader.failure(&["packages", package, "parameters"], &message)
    };
    let words = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Sequence(words)) => words,
        Some(other) => return Err(wrong(other)),
    };
    let word = |word: &Value| match word {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => {
            check_number(reader, &["packages", package, "parameters"], number)?;
            Ok(number.to_string())
        }
        Value::Bool(value) => Ok(value.to_string()),
        other => Err(wrong(other)),
    };
    words.iter().map(word).collect()
}
