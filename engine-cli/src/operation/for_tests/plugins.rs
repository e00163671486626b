//! The plugins that the testing kits run, and those that the laws of providers judge.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use maloko_core::plugin::{PackageRequest, PluginHost};
use maloko_core::urn::package_of;
use maloko_kit::{PluginSetup, PluginUnderTest};
use maloko_plugins::{PluginSettings, Plugins, ProjectPlugin};
use tokio::sync::OnceCell;

use super::made_package::{MadePackage, WithMadePackage};
use crate::operation::plugins::{of_project, without_project};
use crate::project::Project;

/// The plugins of the project in a directory or above it, for tests that run them. `config` is the configuration of the
/// test's stack, by full key. Without a project the plugins are looked for in the usual places.
///
/// # Errors
/// In words: a project file that cannot be read.
pub(super) fn of_directory(directory: &Path, config: BTreeMap<String, String>) -> Result<Arc<dyn PluginHost>, String> {
    Ok(Arc::new(Plugins::new(PluginSettings { config, ..settings_for_tests(directory)? })))
}

/// A plugin that the laws of providers judge. `plugin` is the name of its package, its executable, or the folder that has
/// it; empty: the package of the type. Names are looked for as by tests that run them. A plugin with parameters makes the
/// package of the type of them.
///
/// # Errors
/// In words: there is no such file, or it is not the plugin of the type's package.
pub fn plugin_under_test(directory: &Path, plugin: &str, setup: PluginSetup) -> Result<PluginUnderTest, String> {
    let (settings, name) = found(directory, plugin, &setup)?;
    if setup.parameters.is_empty() {
        return under_test(setup, move || Arc::new(Plugins::new(settings.clone())));
    }
    let package = package_of(&setup.kind).to_owned();
    made(setup, settings, package, name)
}

/// The schema of the package that a plugin under test has or makes; `None` where the plugin gives none.
pub(crate) async fn schema_under_test(directory: &Path, plugin: &str, setup: &PluginSetup) -> Option<String> {
    let (settings, name) = found(directory, plugin, setup).ok()?;
    let request = PackageRequest { name, version: setup.version.clone(), ..PackageRequest::default() };
    // Those that are judged give theirs to nobody.
    let plugins = Arc::new(Plugins::new(settings));
    let schema = plugins.schema_with(&request, &setup.parameters).await;
    plugins.stop_all().await;
    String::from_utf8(schema.ok()?.schema).ok()
}

/// Where a plugin is looked for, and by which name.
fn found(directory: &Path, plugin: &str, setup: &PluginSetup) -> Result<(PluginSettings, String), String> {
    setup.check()?;
    let package = package_of(&setup.kind).to_owned();
    let is_made = !setup.parameters.is_empty();
    if is_made && plugin.is_empty() {
        return Err(format!(
            "which plugin makes the package '{package}' of {} is not said; name it, such as terraform-provider",
            setup.parameters.join(" ")
        ));
    }
    let mut settings = settings_for_tests(directory)?;
    settings.config = setup.full_config().into_iter().map(|(key, config)| (key, config.value)).collect();
    if plugin.contains(['/', '\\']) || plugin == "." || plugin == ".." {
        let place = directory.join(plugin);
        let name = if is_made { name_of(&place) } else { package };
        let path = folder_of(&place, &name)?;
        settings.project_plugins = vec![ProjectPlugin { name: name.clone(), path, version: String::new() }];
        return Ok((settings, name));
    }
    if !is_made && !plugin.is_empty() && plugin != package {
        return Err(format!(
            "the type '{}' is of the package '{package}', and not of '{plugin}'. If that plugin makes the package, say of \
             what: its parameters, such as hashicorp/random and 3.6.0. A path has a '/': './{plugin}'",
            setup.kind
        ));
    }
    Ok((settings, if is_made { plugin.to_owned() } else { package }))
}

/// A plugin whose package is one that it makes of the parameters.
fn made(
    mut setup: PluginSetup,
    settings: PluginSettings,
    package: String,
    plugin: String,
) -> Result<PluginUnderTest, String> {
    // It is the plugin's version; that of the package comes of the parameters.
    let version = std::mem::take(&mut setup.version);
    let plugin = PackageRequest { name: plugin, version, ..PackageRequest::default() };
    let arguments = setup.parameters.clone();
    let package = Arc::new(MadePackage { name: package, plugin, arguments, made: OnceCell::new() });
    under_test(setup, move || {
        Arc::new(WithMadePackage { plugins: Plugins::new(settings.clone()), package: Arc::clone(&package) })
    })
}

fn under_test(
    setup: PluginSetup,
    plugins: impl Fn() -> Arc<dyn PluginHost> + Send + Sync + 'static,
) -> Result<PluginUnderTest, String> {
    PluginUnderTest::new(setup, Box::new(plugins)).map_err(|error| error.to_string())
}

/// The plugin in a folder, or in a file, by its executable.
fn name_of(place: &Path) -> String {
    let name = |name: &std::ffi::OsStr| name.to_str()?.strip_prefix("pulumi-resource-").map(str::to_owned);
    let within = || std::fs::read_dir(place).ok()?.flatten().find_map(|entry| name(&entry.file_name()));
    place.file_stem().and_then(name).or_else(within).unwrap_or_default()
}

/// The folder of a plugin that is given by its path.
fn folder_of(path: &Path, package: &str) -> Result<PathBuf, String> {
    if path.is_dir() {
        return Ok(path.to_path_buf());
    }
    let executable = format!("pulumi-resource-{package}");
    if !path.is_file() {
        return Err(format!("there is no plugin {}; give its executable, or the folder that has it", path.display()));
    }
    match (path.file_stem(), path.parent()) {
        (Some(name), Some(folder)) if name == executable.as_str() => Ok(folder.to_path_buf()),
        _ => Err(format!(
            "{} is not called {executable}, as the plugin of the package '{package}' is; rename it, or link to it by that \
             name",
            path.display()
        )),
    }
}

pub(super) fn settings_for_tests(directory: &Path) -> Result<PluginSettings, String> {
    let variable = |name: &str| std::env::var(name).ok();
    if Project::is_in(directory) {
        let project = Project::find(directory).map_err(|failure| failure.message.to_string())?;
        return Ok(of_project(variable, &project, Vec::new()));
    }
    Ok(without_project(variable, directory))
}
