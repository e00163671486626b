//! `plugin`: which plugins are installed, and which a project needs.

mod install;
mod ls;
pub(crate) mod needed;
mod progress;
mod rm;
mod versions;

use std::path::PathBuf;

use maloko_core::plugin::PackageRequest;
use maloko_plugins::PluginSettings;

use crate::arguments::PluginCommand;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operation::plugins;

/// Runs a command of `plugin`.
pub(crate) async fn run(context: &Context, command: &PluginCommand) -> Result<()> {
    match command {
        PluginCommand::Ls(arguments) => ls::run(context, arguments).await,
        PluginCommand::Install(arguments) => install::run(context, arguments).await,
        PluginCommand::Rm(arguments) => rm::run(context, arguments),
    }
}

/// Installs the plugins that the project needs.
pub(crate) async fn install_for_project(context: &Context, reinstall: bool) -> Result<()> {
    install::for_project(context, reinstall).await.map(|_| ())
}

/// Installs the plugin of a package; gives its version.
pub(crate) fn install_one(context: &Context, settings: &PluginSettings, package: &PackageRequest) -> Result<String> {
    install::missing(context, settings, package)
}

/// Where plugins are, with a project or without.
pub(crate) fn settings(context: &Context) -> PluginSettings {
    match context.project() {
        Ok(project) => plugins::settings(context, &project),
        Err(_) => plugins::settings_of_user(context),
    }
}

/// The folder of installed plugins.
fn folder(settings: &PluginSettings) -> Result<PathBuf> {
    settings
        .plugin_folder()
        .ok_or_else(|| Failure::configuration("there is no folder for plugins; set PULUMI_HOME, or HOME".to_owned()))
}
