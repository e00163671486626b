//! Flags of `package`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::FormatArguments;

/// What `package` does.
#[derive(Debug, Subcommand)]
pub(crate) enum PackageCommand {
    /// Make the SDK of a package, and have the project use it
    Add(PackageAdd),
    /// Make the SDK of a package in a folder
    GenSdk(PackageGenSdk),
    /// Print the schema of a package
    GetSchema(PackageSource),
    /// Say what is in a package
    Info(PackageInfo),
    /// List the packages of the project, and whether their SDKs are there
    #[command(visible_alias = "list")]
    Ls(PackageList),
    /// Take a package out of the project
    #[command(visible_alias = "remove")]
    Rm(PackageRemove),
}

/// Which package.
#[derive(Debug, Args)]
pub(crate) struct PackageSource {
    /// A plugin's name with or without @VERSION, the folder or file of a plugin, or a schema's file
    #[arg(value_name = "SOURCE")]
    pub(crate) source: String,
    /// What the plugin makes the package of, such as `hashicorp/random 3.6.0`; after `--` if it begins with a dash
    #[arg(value_name = "PARAMETER")]
    pub(crate) parameters: Vec<String>,
}

/// Who makes SDKs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generator {
    /// maloko itself.
    #[default]
    Maloko,
    /// The language's own host, which comes with the Pulumi CLI.
    Official,
}

/// `package add`.
#[derive(Debug, Args)]
pub(crate) struct PackageAdd {
    /// Replace an SDK that was changed by hand, or that another tool made
    #[arg(long)]
    pub(crate) force: bool,
    /// Who makes the SDK: official is the language's own host, which comes with the Pulumi CLI
    #[arg(long, value_name = "GENERATOR", default_value = "maloko")]
    pub(crate) generator: Generator,
    /// Leave the project's dependencies alone
    #[arg(long)]
    pub(crate) no_link: bool,
    /// Which package.
    #[command(flatten)]
    pub(crate) source: PackageSource,
}

/// The language of an SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SdkLanguage {
    /// Python.
    Python,
    /// JavaScript with types.
    #[value(alias = "typescript", alias = "javascript")]
    Nodejs,
    /// Both.
    All,
}

/// `package gen-sdk`.
#[derive(Debug, Args)]
pub(crate) struct PackageGenSdk {
    /// The language; that of the project when not given, else all
    #[arg(long)]
    pub(crate) language: Option<SdkLanguage>,
    /// The folder, in which each language gets one of its own
    #[arg(short, long, value_name = "DIR", default_value = "sdk")]
    pub(crate) out: PathBuf,
    /// Who makes the SDK: official is the language's own host, which comes with the Pulumi CLI
    #[arg(long, value_name = "GENERATOR", default_value = "maloko")]
    pub(crate) generator: Generator,
    /// The version of the SDK, where the schema has none
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// Replace an SDK that was changed by hand, or that another tool made
    #[arg(long)]
    pub(crate) force: bool,
    /// Accepted for Pulumi's sake: the SDK is always one for local use
    #[arg(long, hide = true)]
    local: bool,
    /// Which package.
    #[command(flatten)]
    pub(crate) source: PackageSource,
}

/// `package info`.
#[derive(Debug, Args)]
pub(crate) struct PackageInfo {
    /// Only this module
    #[arg(short, long, value_name = "MODULE")]
    pub(crate) module: Option<String>,
    /// The properties of this resource
    #[arg(short, long, value_name = "NAME", conflicts_with = "function")]
    pub(crate) resource: Option<String>,
    /// The inputs and outputs of this function
    #[arg(short, long, value_name = "NAME")]
    pub(crate) function: Option<String>,
    /// Which package.
    #[command(flatten)]
    pub(crate) source: PackageSource,
}

/// `package ls`.
#[derive(Debug, Args)]
pub(crate) struct PackageList {
    /// How to write.
    #[command(flatten)]
    pub(crate) format: FormatArguments,
}

/// `package rm`.
#[derive(Debug, Args)]
pub(crate) struct PackageRemove {
    /// The package, as Pulumi.yaml names it
    pub(crate) name: String,
    /// Remove its SDK although it was changed by hand
    #[arg(long)]
    pub(crate) force: bool,
}
