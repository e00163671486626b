//! Terraform's providers, which the plugin `terraform-provider` runs: its cache, filled from files and from mirrors.
//!
//! The layout of the cache and of mirrors is Terraform's:
//! <https://developer.hashicorp.com/terraform/internals/provider-network-mirror-protocol>.

mod address;
mod archive;
mod cache;
mod mirror;

use std::path::Path;

use maloko_core::plugin::PackageRequest;
use serde::Deserialize;

use crate::install::{InstallError, Progress};
use crate::settings::{PluginSettings, TERRAFORM_MIRROR as MIRROR};

pub use address::TerraformProvider;
pub use cache::{CachedProvider, cache_folder, cached_providers, find_cached};

/// The plugin that runs them.
pub const PLUGIN: &str = "terraform-provider";

/// Puts a provider into the plugin's cache, from an archive of Terraform's or from its unpacked folder.
///
/// # Errors
/// When there is no version, or the file is no such archive. Then nothing is in the cache that was not there.
pub fn install_provider(
    settings: &PluginSettings,
    provider: &TerraformProvider,
    file: &Path,
) -> Result<CachedProvider, InstallError> {
    let version = provider.exact_version()?;
    cache::fill(settings, provider, &version, |folder| archive::unpack(file, folder))
}

/// Does a package's plugin run providers of Terraform that a mirror has?
pub(crate) fn has_mirror(settings: &PluginSettings, package: &PackageRequest) -> bool {
    package.plugin().0 == PLUGIN && settings.variable(MIRROR).is_some()
}

/// Has the cache filled from the mirror before the plugin looks for a provider there; without a mirror nothing is done.
pub(crate) fn provide(
    settings: &PluginSettings,
    package: &PackageRequest,
    arguments: &[String],
    progress: &dyn Progress,
) -> Result<(), InstallError> {
    let Some(mirror) = settings.variable(MIRROR) else { return Ok(()) };
    let wanted = match &package.parameter {
        Some(parameter) => TerraformProvider::of_parameter(&parameter.value)?,
        None => TerraformProvider::of_arguments(arguments)?,
    };
    match wanted {
        Some(wanted) => mirror::provide(settings, mirror, &wanted, progress)
            .map_err(|error| InstallError::last(format!("the mirror of Terraform's providers ({MIRROR}): {error}"))),
        None => Ok(()),
    }
}

/// What to do where the plugin could not get a provider.
pub(crate) fn help(settings: &PluginSettings, package: &PackageRequest) -> String {
    let cache = cache_folder(settings).map(|folder| folder.display().to_string()).unwrap_or_default();
    format!(
        "\nWithout a network, fill its cache {cache}: `maloko plugin install {PLUGIN} --parameter {} --file ZIP`, or name a \
         mirror by {MIRROR}",
        parameter_of(package).unwrap_or_else(|| "NAMESPACE/NAME@VERSION".to_owned())
    )
}

/// The provider of Terraform that an SDK or a state asks for, as a user names it.
fn parameter_of(package: &PackageRequest) -> Option<String> {
    let read: Parameter = serde_json::from_slice(&package.parameter.as_ref()?.value).ok()?;
    let Remote { url, version } = read.remote?;
    // The host is left out where it is the one that is meant without any.
    let (_, name) = url.split_once('/').filter(|(host, _)| host.contains('.'))?;
    Some(format!("{name}@{version}"))
}

/// What the plugin keeps of a parameter.
#[derive(Deserialize)]
struct Parameter {
    remote: Option<Remote>,
}

#[derive(Deserialize)]
struct Remote {
    url: String,
    version: String,
}

#[cfg(test)]
mod tests;
