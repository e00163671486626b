//! `plugin install`.

use std::collections::BTreeSet;

use maloko_core::plugin::PackageRequest;
use maloko_plugins::terraform::{self, TerraformProvider};
use maloko_plugins::{
    InstallError, InstallOptions, InstalledPlugin, Installer, PluginSettings, WantedPlugin, find_plugin,
};

use super::needed;
use super::progress::Bar;
use crate::arguments::PluginInstall;
use crate::context::Context;
use crate::failure::{Failure, Result, code};
use crate::operation::{plugins, program};
use crate::project::Project;

/// Runs `plugin install`.
pub(super) async fn run(context: &Context, arguments: &PluginInstall) -> Result<()> {
    if let Some(provider) = &arguments.parameter {
        return terraform_provider(context, provider, arguments);
    }
    if arguments.file.is_some() && arguments.version.is_none() {
        return Err(Failure::configuration(
            "--file needs the name and the version of the plugin: maloko plugin install resource NAME VERSION --file FILE"
                .to_owned(),
        ));
    }
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

/// Fills the cache of the plugin that runs providers of Terraform.
fn terraform_provider(context: &Context, provider: &str, arguments: &PluginInstall) -> Result<()> {
    let named = (arguments.kind.as_deref(), arguments.name.as_deref());
    if !matches!(named, (Some(terraform::PLUGIN), None) | (Some("resource"), Some(terraform::PLUGIN))) {
        return Err(Failure::configuration(format!(
            "--parameter is for providers of Terraform: maloko plugin install {} --parameter NAMESPACE/NAME@VERSION --file \
             FILE",
            terraform::PLUGIN
        )));
    }
    let wrong = |error: InstallError| Failure::configuration(error.to_string());
    let provider = TerraformProvider::read(provider).map_err(wrong)?;
    let file = arguments.file.as_ref().map(|file| context.directory.join(file)).unwrap_or_default();
    let done = terraform::install_provider(&super::settings(context), &provider, &file).map_err(wrong)?;
    let what = if done.was_there { "already installed" } else { "installed" };
    context.console.line(&format!(
        "{what}: {} {} in {}",
        done.provider.shown(),
        done.provider.version,
        done.folder.display()
    ));
    Ok(())
}

fn one(context: &Context, name: &str, arguments: &PluginInstall) -> Result<()> {
    let version = arguments.version.as_deref().unwrap_or_default();
    let url = arguments.server.as_deref().unwrap_or_default();
    let wanted = WantedPlugin::new(name, version, url, arguments.checksum.clone());
    let wanted = wanted.map_err(|error| Failure::configuration(error.to_string()))?;
    let file = arguments.file.as_ref().map(|file| context.directory.join(file));
    let options = InstallOptions { reinstall: arguments.reinstall, file };
    install(context, &super::settings(context), &wanted, &options).map(drop)
}

/// Installs what the project needs and does not have, and says how many it needs. Every one that cannot be installed is named.
pub(super) async fn for_project(context: &Context, reinstall: bool) -> Result<usize> {
    let project = context.project()?;
    let settings = plugins::settings(context, &project);
    let needs = needed::of_project(context, &project).await?;
    let number = needs.len();
    let options = InstallOptions { reinstall, file: None };
    let mut failed = false;
    let used = used(context, &project, &settings).await;
    for need in needs {
        if !reinstall && let Ok(place) = find_plugin(&settings, &need.package) {
            context.console.line(&format!("already there: resource {} ({place})", need.shown()));
            continue;
        }
        let wanted = WantedPlugin::of(&need.package).map_err(|error| Failure::new(error.to_string()));
        if let Err(failure) = wanted.and_then(|wanted| install(context, &settings, &wanted, &options)) {
            // An environment may have SDKs that this program has nothing to do with.
            let is_idle = need.is_of_sdk && used.as_ref().is_some_and(|used| !used.contains(&need.package.name));
            failed |= !is_idle;
            let (what, why) = if is_idle { ("warning", ", and the program does not import it") } else { ("error", "") };
            context.console.note(format!("{what}: {}\n  {} needs {}{why}", failure.message, need.place, need.shown()));
        }
    }
    if failed { Err(Failure::silent(code::FAILURE)) } else { Ok(number) }
}

/// The packages whose SDKs the program imports; `None`: nobody knows.
async fn used(context: &Context, project: &Project, settings: &PluginSettings) -> Option<BTreeSet<String>> {
    let program = program::of_project(context, project).ok()?;
    let named = needed::of_program(context, &program, settings).await;
    Some(named.into_iter().map(|need| need.package.name).collect())
}

/// Installs the plugin of a package; gives its version.
pub(super) fn missing(context: &Context, settings: &PluginSettings, package: &PackageRequest) -> Result<String> {
    let wanted = WantedPlugin::of(package).map_err(|error| Failure::new(error.to_string()))?;
    install(context, settings, &wanted, &InstallOptions { reinstall: false, file: None })
}

fn install(
    context: &Context,
    settings: &PluginSettings,
    wanted: &WantedPlugin,
    options: &InstallOptions,
) -> Result<String> {
    let bar = Bar::new(context);
    let done = Installer::new(settings).install(wanted, options, &bar);
    bar.end();
    let InstalledPlugin { version, was_there, .. } = done.map_err(|error| Failure::new(error.to_string()))?;
    let what = if was_there { "already installed" } else { "installed" };
    context.console.line(&format!("{what}: resource {}-{version}", wanted.name));
    Ok(version.to_string())
}
