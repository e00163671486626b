//! Which program is the plugin of a package: the first that is found, in the order of the reference engine.

use std::path::{Path, PathBuf};

use semver::Version;

use maloko_core::plugin::PackageRequest;

use crate::install::{GitPlace, PluginFolder, shown};
use crate::programs::runtime_command::{PluginCommand, command_in};
use crate::settings::PluginSettings;

/// A plugin that was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LocatedPlugin {
    /// It runs already and listens on that port.
    Attached(u16),
    /// It is started; `warning` says what the user should know of that. `installed` is its folder among the installed ones.
    Program { command: PluginCommand, on_path: bool, installed: Option<PluginFolder> },
}

/// Why there is no plugin. The text says where it was looked for, and what helps.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LocateError {
    /// It is nowhere, and may be installed.
    Missing(String),
    /// What is there, or what is asked for, is wrong.
    Wrong(String),
}

impl LocateError {
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Missing(text) | Self::Wrong(text) => text,
        }
    }
}

impl From<String> for LocateError {
    fn from(text: String) -> Self {
        Self::Wrong(text)
    }
}

/// Looks for the plugin of a package.
pub(crate) fn locate(
    settings: &PluginSettings,
    package: &PackageRequest,
    warn: &(dyn Fn(&str) + Sync),
) -> Result<LocatedPlugin, LocateError> {
    let (name, version) = package.plugin();
    let wanted = wanted_version(name, version)?;
    if let Some(port) = attached(settings, name)? {
        return Ok(LocatedPlugin::Attached(port));
    }
    let executable = format!("pulumi-resource-{name}");
    let started = |command| LocatedPlugin::Program { command, on_path: false, installed: None };
    if let Some(place) = of_project(settings, name, wanted.as_ref(), warn) {
        // A file is the plugin itself, whatever it is called.
        let command = if place.is_file() { Ok(PluginCommand::of_file(place)) } else { command_in(&place, &executable) };
        return Ok(command.map(started)?);
    }
    let looks_at_path = !settings.is_on("PULUMI_IGNORE_AMBIENT_PLUGINS");
    if looks_at_path && let Some(file) = on_path(settings, &executable) {
        return Ok(LocatedPlugin::Program { command: PluginCommand::of_file(file), on_path: true, installed: None });
    }
    let folder = settings.plugin_folder();
    let place = GitPlace::is_meant(&package.download_url).then(|| GitPlace::read(&package.download_url)).transpose()?;
    let (called, below) = place.as_ref().map_or((name, ""), |place| (&place.name, &place.path));
    if let Some(folder) = folder.as_deref().and_then(|folder| installed(folder, called, wanted.as_ref())) {
        let inside = if below.is_empty() { folder.clone() } else { folder.join(below) };
        let command = command_in(&inside, &executable)?;
        return Ok(LocatedPlugin::Program { command, on_path: false, installed: Some(PluginFolder::new(folder)) });
    }
    Err(LocateError::Missing(not_found(package, &executable, looks_at_path, folder.as_deref())))
}

/// Where the plugin of a package is, in words; nothing is started. The error says where it was looked for, and what helps.
pub fn find_plugin(settings: &PluginSettings, package: &PackageRequest) -> Result<String, String> {
    Ok(match locate(settings, package, &|_| {}).map_err(LocateError::into_text)? {
        LocatedPlugin::Attached(port) => format!("a plugin that runs already, on port {port}"),
        LocatedPlugin::Program { command, .. } => command.program.display().to_string(),
    })
}

fn wanted_version(name: &str, version: &str) -> Result<Option<Version>, String> {
    if version.is_empty() {
        return Ok(None);
    }
    let plain = version.strip_prefix('v').unwrap_or(version);
    let parsed = Version::parse(plain);
    parsed.map(Some).map_err(|_| format!("'{version}' is no version of the package '{name}'; write it like 4.21.4"))
}

/// Equal versions, whatever was built of them.
fn is_version(found: &Version, wanted: &Version) -> bool {
    found.cmp_precedence(wanted).is_eq()
}

/// The port in `PULUMI_DEBUG_PROVIDERS=package:port,other:port`.
pub(crate) fn attached(settings: &PluginSettings, name: &str) -> Result<Option<u16>, String> {
    entry_of(settings, "PULUMI_DEBUG_PROVIDERS", name)
}

/// The port of a name in a variable that lists `name:port,other:port`.
pub(crate) fn entry_of(settings: &PluginSettings, variable: &str, name: &str) -> Result<Option<u16>, String> {
    let Some(list) = settings.variable(variable) else { return Ok(None) };
    for entry in list.split(',') {
        let parsed = entry.trim().rsplit_once(':').and_then(|(name, port)| Some((name, port.parse().ok()?)));
        match parsed {
            Some((package, port)) if package == name => return Ok(Some(port)),
            Some(_) => {}
            None => {
                return Err(format!(
                    "{variable} has the entry '{entry}'; entries are written name:port, with commas between them"
                ));
            }
        }
    }
    Ok(None)
}

fn of_project(settings: &PluginSettings, name: &str, wanted: Option<&Version>, warn: &dyn Fn(&str)) -> Option<PathBuf> {
    let fits = |version: &str| match (wanted, Version::parse(version.strip_prefix('v').unwrap_or(version))) {
        (Some(wanted), Ok(version)) => is_version(&version, wanted),
        _ => true,
    };
    let plugins = settings.project_plugins.iter().filter(|plugin| plugin.name == name);
    let (fitting, others): (Vec<_>, Vec<_>) = plugins.partition(|plugin| fits(&plugin.version));
    if fitting.is_empty() {
        for plugin in others {
            warn(&format!(
                "the plugin '{name}' of Pulumi.yaml has the version {} and is passed over: {} is asked for",
                plugin.version,
                wanted.map(ToString::to_string).unwrap_or_default()
            ));
        }
    }
    fitting.first().map(|plugin| settings.project_root.join(&plugin.path))
}

pub(crate) fn on_path(settings: &PluginSettings, executable: &str) -> Option<PathBuf> {
    let path = settings.variable("PATH")?;
    std::env::split_paths(path).map(|folder| folder.join(executable)).find(|file| is_executable(file))
}

pub(crate) fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn installed(folder: &Path, name: &str, wanted: Option<&Version>) -> Option<PathBuf> {
    installed_of(folder, "resource", name, wanted)
}

/// The folder of an installed plugin: of exactly the version that is wanted, else of the newest, with pre-releases last.
pub(crate) fn installed_of(folder: &Path, kind: &str, name: &str, wanted: Option<&Version>) -> Option<PathBuf> {
    let prefix = format!("{kind}-{name}-v");
    let entries = std::fs::read_dir(folder).ok()?;
    let found = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let version = Version::parse(path.file_name()?.to_str()?.strip_prefix(&prefix)?).ok()?;
        PluginFolder::new(path.clone()).is_whole().then_some((version, path))
    });
    let best = match wanted {
        Some(wanted) => found.filter(|(version, _)| is_version(version, wanted)).max(),
        None => found
            .max_by(|(one, _), (other, _)| one.pre.is_empty().cmp(&other.pre.is_empty()).then_with(|| one.cmp(other))),
    };
    best.map(|(_, path)| path)
}

fn not_found(package: &PackageRequest, executable: &str, looks_at_path: bool, folder: Option<&Path>) -> String {
    let (name, version) = package.plugin();
    let at =
        if version.is_empty() { String::new() } else { format!(" at version v{}", version.trim_start_matches('v')) };
    let path = if looks_at_path { " or on your $PATH" } else { "" };
    let plain = version.trim_start_matches('v');
    let known = if plain.is_empty() { "VERSION" } else { plain };
    let mut install = format!("maloko plugin install resource {name}");
    if !plain.is_empty() {
        install = format!("{install} {plain}");
    }
    let mut from = String::new();
    if !package.download_url.is_empty() {
        install = format!("{install} --server {}", shown(&package.download_url));
        from = format!(" from {}", shown(&package.download_url));
    }
    let there = folder.map(|folder| folder.join(format!("resource-{name}-v{known}"))).unwrap_or_default();
    let own = if looks_at_path {
        "Put its executable into a folder of $PATH"
    } else {
        "$PATH is not looked at (PULUMI_IGNORE_AMBIENT_PLUGINS). Put its executable into"
    };
    let own = if looks_at_path { format!("{own}, or into") } else { own.to_owned() };
    format!(
        "no resource plugin '{executable}' found in the workspace{at}{path}{from}. Run `{install}`.\n{own} {}, where \
         there is no network",
        there.display()
    )
}

#[cfg(test)]
#[path = "locate_tests.rs"]
mod tests;
