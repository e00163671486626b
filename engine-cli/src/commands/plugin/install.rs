//! `plugin install`.

use maloko_plugins::{InstallOptions, Installed, Installer, PluginSettings, WantedPlugin, find_plugin};

use super::needed;
use super::progress::Bar;
use crate::arguments::PluginInstall;
use crate::context::Context;
use crate::failure::{Failure, Result, code};
use crate::operation::plugins;

/// Runs `plugin install`.
pub(super) async fn run(context: &Context, arguments: &PluginInstall) -> Result<()> {
    match (arguments.kind.as_deref(), arguments.name.as_deref()) {
        (None, _) => match for_project(context, arguments.reinstall).await? {
            0 => {
                context.console.line("The project needs no plugins");
                Ok(())
            }
            _ => Ok(()),
        },
        (Some("resource"), Some(name)) => one(context, name, arguments),
        (Some("resource"), None) => Err(Failure::configuration(
            "the name of the package is missing: maloko plugin install resource NAME VERSION".to_owned(),
        )),
        (Some(other), _) => Err(Failure::configuration(format!(
            "maloko runs no plugins of the kind '{other}'; install those of packages: maloko plugin install resource NAME \
             VERSION"
        ))),
    }
}

fn one(context: &Context, name: &str, arguments: &PluginInstall) -> Result<()> {
    let version = arguments.version.as_deref().unwrap_or_default();
    let url = arguments.server.as_deref().unwrap_or_default();
    let wanted = WantedPlugin::new(name, version, url, arguments.checksum.clone());
    let wanted = wanted.map_err(|error| Failure::configuration(error.to_string()))?;
    let file = arguments.file.as_ref().map(|file| context.directory.join(file));
    let options = InstallOptions { reinstall: arguments.reinstall, file };
    install(context, &super::settings(context), &wanted, &options)
}

/// Installs what the project needs and does not have, and says how many it needs. Every one that cannot be installed is named.
pub(super) async fn for_project(context: &Context, reinstall: bool) -> Result<usize> {
    let project = context.project()?;
    let settings = plugins::settings(context, &project);
    let needs = needed::of_project(context, &project).await?;
    let number = needs.len();
    let options = InstallOptions { reinstall, file: None };
    let mut failed = false;
    for need in needs {
        if !reinstall && let Ok(place) = find_plugin(&settings, &need.package) {
            context.console.line(&format!("already there: resource {} ({place})", need.shown()));
            continue;
        }
        let wanted = WantedPlugin::of(&need.package).map_err(|error| Failure::new(error.to_string()));
        if let Err(failure) = wanted.and_then(|wanted| install(context, &settings, &wanted, &options)) {
            failed = true;
            context.console.note(format!("error: {}\n  {} needs {}", failure.message, need.place, need.shown()));
        }
    }
    if failed { Err(Failure::silent(code::FAILURE)) } else { Ok(number) }
}

fn install(
    context: &Context,
    settings: &PluginSettings,
    wanted: &WantedPlugin,
    options: &InstallOptions,
) -> Result<()> {
    let bar = Bar::new(context);
    let done = Installer::new(settings).install(wanted, options, &bar);
    bar.end();
    let Installed { version, was_there, .. } = done.map_err(|error| Failure::new(error.to_string()))?;
    let what = if was_there { "already installed" } else { "installed" };
    context.console.line(&format!("{what}: resource {}-{version}", wanted.name));
    Ok(())
}
