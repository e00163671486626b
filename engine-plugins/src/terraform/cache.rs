//! The folder in which the plugin looks for providers before it asks a registry.

use std::fs;
use std::path::{Path, PathBuf};

use semver::Version;

use super::TerraformProvider;
use crate::install::{InstallError, platform};
use crate::settings::{PluginSettings, TERRAFORM_CACHE as CACHE};

/// A provider in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CachedProvider {
    /// Which one; its version is an exact one.
    pub provider: TerraformProvider,
    /// Its folder.
    pub folder: PathBuf,
    /// Was it there before?
    pub was_there: bool,
}

/// The plugin's cache; `None` if there is no home.
#[must_use]
pub fn cache_folder(settings: &PluginSettings) -> Option<PathBuf> {
    match settings.variable(CACHE) {
        Some(folder) => Some(PathBuf::from(folder)),
        None => settings.plugin_folder().map(|plugins| plugins.with_file_name("dynamic_tf_plugins")),
    }
}

/// The providers in the cache that this machine can run, by name and version.
#[must_use]
pub fn cached_providers(settings: &PluginSettings) -> Vec<CachedProvider> {
    let mut found = Vec::new();
    let Some(cache) = cache_folder(settings) else { return found };
    for host in names(&cache) {
        for namespace in names(&cache.join(&host)) {
            for name in names(&cache.join(&host).join(&namespace)) {
                let any = TerraformProvider {
                    host: host.clone(),
                    namespace: namespace.clone(),
                    name,
                    version: String::new(),
                };
                found.extend(versions(&cache, &any).into_iter().map(|(version, folder)| CachedProvider {
                    provider: TerraformProvider { version: version.to_string(), ..any.clone() },
                    folder,
                    was_there: true,
                }));
            }
        }
    }
    found
}

/// The newest version in the cache that will do.
#[must_use]
pub fn find_cached(settings: &PluginSettings, provider: &TerraformProvider) -> Option<CachedProvider> {
    let wanted = provider.wanted().ok()?;
    let there = versions(&cache_folder(settings)?, provider);
    let (version, folder) = there.into_iter().rfind(|(version, _)| wanted.matches(version))?;
    let provider = TerraformProvider { version: version.to_string(), ..provider.clone() };
    Some(CachedProvider { provider, folder, was_there: true })
}

/// Makes a provider's folder as a whole, or not at all.
pub(super) fn fill(
    settings: &PluginSettings,
    provider: &TerraformProvider,
    version: &Version,
    fill: impl FnOnce(&Path) -> Result<(), InstallError>,
) -> Result<CachedProvider, InstallError> {
    let cache = cache_folder(settings)
        .ok_or_else(|| InstallError::last("there is no folder for providers of Terraform; set PULUMI_HOME, or HOME"))?;
    let above = cache.join(provider.path()).join(version.to_string());
    let folder = above.join(system());
    let provider = TerraformProvider { version: version.to_string(), ..provider.clone() };
    if has_program(&folder, &provider.name) {
        return Ok(CachedProvider { provider, folder, was_there: true });
    }
    let failed = |error: &std::io::Error| InstallError::io(format!("{} cannot be made", folder.display()), error);
    fs::create_dir_all(&above).map_err(|error| failed(&error))?;
    // Outside of the tree that the plugin searches.
    let made = tempfile::Builder::new().prefix(".provider-").tempdir_in(&cache).map_err(|error| failed(&error))?;
    let new = made.path().join("new");
    fs::create_dir(&new).map_err(|error| failed(&error))?;
    fill(&new)?;
    if !has_program(&new, &provider.name) {
        return Err(InstallError::last(format!(
            "there is no terraform-provider-{} for {} in it",
            provider.name,
            system()
        )));
    }
    if let Some(other) = other_version(&new, &provider.name, version) {
        return Err(InstallError::last(format!("{other} in it is not of the version {version}")));
    }
    match fs::rename(&new, &folder) {
        // Somebody else was faster.
        Err(_) if has_program(&folder, &provider.name) => {}
        done => done.map_err(|error| failed(&error))?,
    }
    Ok(CachedProvider { provider, folder, was_there: false })
}

/// The versions of a provider that are there, with their folders.
fn versions(cache: &Path, provider: &TerraformProvider) -> Vec<(Version, PathBuf)> {
    let place = cache.join(provider.path());
    let there = names(&place).into_iter().filter_map(|version| {
        let folder = place.join(&version).join(system());
        has_program(&folder, &provider.name).then_some((Version::parse(&version).ok()?, folder))
    });
    let mut there: Vec<_> = there.collect();
    there.sort();
    there
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

/// The program, if its name says another version: `terraform-provider-random_v3.6.0_x5`.
fn other_version(folder: &Path, name: &str, version: &Version) -> Option<String> {
    let prefix = format!("terraform-provider-{name}_v");
    names(folder).into_iter().find(|file| {
        let said = file.strip_prefix(&prefix).and_then(|rest| rest.split("_x").next());
        said.is_some_and(|said| Version::parse(said).is_ok_and(|said| said != *version))
    })
}

fn has_program(folder: &Path, name: &str) -> bool {
    let program = format!("terraform-provider-{name}");
    let is_it =
        |file: &String| *file == program || file.strip_prefix(&program).is_some_and(|rest| rest.starts_with('_'));
    names(folder).iter().any(is_it)
}

/// This machine, as folders and archives of Terraform name it.
pub(super) fn system() -> String {
    let (os, processor) = platform();
    format!("{os}_{processor}")
}
