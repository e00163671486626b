//! Which package a command is about, and its schema: from a file, or from its plugin, which is installed if it is missing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use maloko_core::plugin::{PackageRequest, PluginHost};
use maloko_packages::schema::{Package, read};
use maloko_plugins::terraform;
use maloko_plugins::{GitSource, PluginSettings, Plugins, ProjectPlugin, find_plugin};

use crate::commands::plugin;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::yaml;

/// Where a schema comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A file that holds it.
    Schema(PathBuf),
    /// A plugin, by its name.
    Plugin(PackageRequest),
    /// A plugin in a folder, or in a file: its name and its place.
    Place(String, PathBuf),
}

/// A package, as somebody asked for it.
pub(super) struct PackageSchema {
    /// Its schema, as JSON.
    pub(super) schema: String,
    /// The same, looked through.
    pub(super) package: Package,
    /// The plugin's version; empty for a schema in a file, or when the plugin does not say.
    pub(super) plugin_version: String,
}

impl Source {
    /// Reads what a user wrote; paths count from a directory.
    pub(super) fn read(text: &str, directory: &Path) -> Result<Self> {
        let place = directory.join(text);
        let ends = |ending: &str| place.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending));
        if ends("json") || ends("yaml") || ends("yml") {
            return Ok(Self::Schema(place));
        }
        if let Some(git) = GitSource::read(text).map_err(Failure::configuration)? {
            let GitSource { url, name, version } = git;
            return Ok(Self::Plugin(PackageRequest { name, version, download_url: url, ..PackageRequest::default() }));
        }
        let is_path = is_path(text) || text.contains(std::path::MAIN_SEPARATOR);
        if is_path {
            if !place.exists() {
                return Err(Failure::configuration(format!(
                    "there is nothing at {}: name the folder or the file of a plugin, a plugin, or a schema's file",
                    place.display()
                )));
            }
            return Ok(Self::Place(name_of(&place), place));
        }
        let (name, version) = text.split_once('@').unwrap_or((text, ""));
        Ok(Self::Plugin(PackageRequest {
            name: name.to_owned(),
            version: version.trim_start_matches('v').to_owned(),
            ..PackageRequest::default()
        }))
    }

    /// Finds the schema. A plugin makes the package of the parameters first, if there are some.
    pub(super) async fn find(
        &self,
        context: &Context,
        settings: PluginSettings,
        parameters: &[String],
    ) -> Result<PackageSchema> {
        let (schema, plugin_version) = match self {
            Self::Schema(file) if parameters.is_empty() => (schema_in(file)?, String::new()),
            Self::Schema(file) => {
                let what = "a schema takes no parameters: they are for plugins that make packages of them";
                return Err(Failure::configuration(format!("{}: {what}", file.display())));
            }
            Self::Plugin(request) => ask(context, settings, request, parameters).await?,
            Self::Place(name, place) => {
                let plugin = ProjectPlugin { name: name.clone(), path: place.clone(), version: String::new() };
                let settings = PluginSettings { project_plugins: vec![plugin], ..settings };
                let request = PackageRequest { name: name.clone(), ..PackageRequest::default() };
                ask(context, settings, &request, parameters).await?
            }
        };
        let mut package = read(&schema).map_err(|fault| Failure::new(format!("{}: {fault}", self.shown())))?;
        if let [first, others @ ..] = package.dangling.as_slice() {
            let others = if others.is_empty() { String::new() } else { format!(", and {} more do so", others.len()) };
            let what = format!("the schema lacks types that it names, and takes anything there: {first}{others}");
            context.console.warn(format!("{}: {what}", self.shown()));
        }
        if let Self::Plugin(request) = self
            && !request.download_url.is_empty()
        {
            // A plugin does not know which commit it is of, and where it was cloned from.
            package.version.clone_from(&plugin_version);
            package.plugin_download_url.clone_from(&request.download_url);
        }
        Ok(PackageSchema { schema, package, plugin_version })
    }

    /// Is it the plugin that runs providers of Terraform?
    pub(super) fn is_of_terraform(&self) -> bool {
        matches!(self, Self::Plugin(request) if request.name == terraform::PLUGIN)
    }

    /// The parameters as the plugin has to be given them: it works in the project's folder, wherever the user is.
    pub(super) fn parameters(&self, given: &[String], directory: &Path, root: &Path) -> Result<Vec<String>> {
        if !self.is_of_terraform() {
            return Ok(given.to_vec());
        }
        if given.is_empty() {
            return Err(Failure::configuration(format!(
                "which provider of Terraform is not said: maloko package add {} hashicorp/random 3.6.0",
                terraform::PLUGIN
            )));
        }
        let whole = |word: &String| {
            let place = directory.join(word);
            if is_path(word) && place.exists() { below(root, &place) } else { word.clone() }
        };
        Ok(given.iter().map(whole).collect())
    }

    /// As a message names it.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Schema(file) => file.display().to_string(),
            Self::Plugin(request) => format!("the plugin {}", request.name),
            Self::Place(_, place) => format!("the plugin at {}", place.display()),
        }
    }
}

/// Is a word a path, and not a name?
pub(super) fn is_path(word: &str) -> bool {
    word.starts_with(['.', '/'])
}

/// A path as a project file has it: from its own folder, or whole where it is not below that.
pub(super) fn below(root: &Path, place: &Path) -> String {
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let whole = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    match whole.strip_prefix(&root) {
        Ok(below) => format!("./{}", below.display()),
        Err(_) => whole.display().to_string(),
    }
}

/// The package of a plugin in a folder or file: as its manifest says, else as it is called.
fn name_of(place: &Path) -> String {
    let manifest = std::fs::read_to_string(place.join("PulumiPlugin.yaml")).ok();
    let manifest = manifest.and_then(|text| serde_norway::from_str::<serde_norway::Value>(&text).ok());
    let named = manifest.and_then(|found| Some(found.get("name")?.as_str()?.to_owned()));
    let whole = place.canonicalize().unwrap_or_else(|_| place.to_owned());
    let called = whole.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    named.unwrap_or_else(|| called.strip_prefix("pulumi-resource-").unwrap_or(&called).to_owned())
}

/// A schema in a file, as JSON.
fn schema_in(file: &Path) -> Result<String> {
    let text = yaml::load("the schema", file)?
        .ok_or_else(|| Failure::configuration(format!("there is no schema {}", file.display())))?;
    if file.extension().is_some_and(|found| found.eq_ignore_ascii_case("json")) {
        return Ok(text);
    }
    let read = yaml::read(file, &text)?;
    serde_json::to_string(&read)
        .map_err(|error| Failure::configuration(format!("{} is no schema: {error}", file.display())))
}

async fn ask(
    context: &Context,
    settings: PluginSettings,
    request: &PackageRequest,
    parameters: &[String],
) -> Result<(String, String)> {
    let mut request = request.clone();
    // Of a repository the newest version is meant, and not the one that happens to be there: it is written down.
    let is_open = !request.download_url.is_empty() && request.version.is_empty();
    let missing = find_plugin(&settings, &request).err();
    if is_open || missing.is_some() {
        // What is wrong with a folder is said by looking for it; only a name can be installed.
        if let Some(missing) = missing.filter(|_| settings.project_plugins.iter().any(|it| it.name == request.name)) {
            return Err(Failure::configuration(missing));
        }
        request.version = plugin::install_one(context, &settings, &request)?;
    }
    let plugins = Arc::new(Plugins::new(settings));
    let found = plugins.schema_with(&request, parameters).await;
    plugins.stop_all().await;
    let found = found.map_err(|error| Failure::new(error.message.to_string()))?;
    let schema = String::from_utf8(found.schema).map_err(|_| {
        Failure::new(format!("the plugin of the package '{}' gave a schema that is no text", request.name))
    })?;
    let is_of_repository = !request.download_url.is_empty();
    Ok((schema, if is_of_repository { request.version } else { found.plugin_version }))
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
