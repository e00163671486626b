//! Flags of `plugin`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::FormatArguments;

/// What `plugin` does.
#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// List the plugins that are installed
    #[command(visible_alias = "list")]
    Ls(PluginList),
    /// Install a plugin, or all that the project needs
    Install(PluginInstall),
    /// Remove plugins
    #[command(visible_alias = "remove")]
    Rm(PluginRemove),
}

/// `plugin ls`.
#[derive(Debug, Args)]
pub(crate) struct PluginList {
    /// Only those that the project needs, missing ones too
    #[arg(short, long)]
    pub(crate) project: bool,
    /// How to write.
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

/// `plugin install`.
#[derive(Debug, Args)]
pub(crate) struct PluginInstall {
    /// What it is for: resource; or terraform-provider, with --parameter
    pub(crate) kind: Option<String>,
    /// The package that it serves; all that the project needs when not given
    pub(crate) name: Option<String>,
    /// Its version; the newest when not given
    pub(crate) version: Option<String>,
    /// Download it from here
    #[arg(long, value_name = "URL", requires = "name")]
    pub(crate) server: Option<String>,
    /// Take this archive or executable, and download nothing
    #[arg(short, long, value_name = "FILE", conflicts_with = "server")]
    pub(crate) file: Option<PathBuf>,
    /// The provider of Terraform that --file is the archive of, such as hashicorp/random@3.6.0
    #[arg(long, value_name = "PROVIDER", requires = "file", conflicts_with_all = ["server", "version", "checksum"])]
    pub(crate) parameter: Option<String>,
    /// Accepted for Pulumi's sake: exactly the version that is asked for is always installed
    #[arg(long, hide = true)]
    pub(crate) exact: bool,
    /// Accepted for Pulumi's sake: how many are downloaded at a time
    #[arg(long, hide = true, value_name = "N")]
    parallel: Option<i64>,
    /// Install it although it is there
    #[arg(long)]
    pub(crate) reinstall: bool,
    /// SHA-256 of the archive, in hexadecimal digits
    #[arg(long, value_name = "HEX", requires = "name")]
    pub(crate) checksum: Option<String>,
}

/// `plugin rm`.
#[derive(Debug, Args)]
pub(crate) struct PluginRemove {
    /// What they are for, such as resource; all of that kind when there is no name
    pub(crate) kind: Option<String>,
    /// Their name
    pub(crate) name: Option<String>,
    /// Their versions, such as 1.2.3 or '>=1.0.0 <2.0.0'
    pub(crate) range: Option<String>,
    /// Remove all that there are
    #[arg(short, long, conflicts_with = "kind")]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(short, long)]
    pub(crate) yes: bool,
}
