//! Flags of the commands for authors of provider plugins.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::FormatArguments;

/// `provider`.
#[derive(Debug, Subcommand)]
pub(crate) enum ProviderCommand {
    /// Judge a provider plugin by the laws of providers
    Test(Box<ProviderTest>),
}

/// `provider test`.
#[derive(Debug, Args)]
pub(crate) struct ProviderTest {
    /// The plugin: the name of its package, its executable, or the folder that has it
    pub(crate) plugin: String,
    /// The type token of the resource, such as random:index/randomPet:RandomPet
    #[arg(value_name = "TYPE")]
    pub(crate) kind: String,
    /// Inputs of the resource, as JSON or YAML: a list, or an object with the list as `inputs`
    #[arg(short, long, value_name = "FILE")]
    pub(crate) inputs: PathBuf,
    /// Try this law only (L5); may be given several times
    #[arg(short, long, value_name = "LAW")]
    pub(crate) law: Vec<String>,
    /// Configuration of the plugin; may be given several times
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub(crate) config: Vec<String>,
    /// What the plugin makes the package of, such as hashicorp/random and 3.6.0; may be given several times
    #[arg(short, long, value_name = "PARAMETER")]
    pub(crate) parameter: Vec<String>,
    /// The version of the package; with --parameter, of the plugin
    #[arg(long, value_name = "VERSION")]
    pub(crate) plugin_version: Option<String>,
    /// How to write.
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}
