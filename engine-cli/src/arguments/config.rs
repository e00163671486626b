//! Flags and verbs of `config`.

use clap::{Args, Subcommand, ValueEnum};

use super::format::OutputFormat;

/// `config`; without a verb it lists the configuration.
#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    /// The verb.
    #[command(subcommand)]
    pub(crate) command: Option<ConfigCommand>,
    /// As JSON
    #[arg(short, long, conflicts_with = "output")]
    json: bool,
    /// How to write: `json` is the same as --json
    #[arg(long, value_name = "FORMAT", global = true)]
    output: Option<OutputFormat>,
    /// Show secrets in plain text
    #[arg(long)]
    pub(crate) show_secrets: bool,
}

impl ConfigArguments {
    /// Is JSON wanted?
    #[must_use]
    pub(crate) fn json(&self) -> bool {
        let of_verb = match &self.command {
            Some(ConfigCommand::Get(get)) => get.json,
            Some(ConfigCommand::Ls { json, .. }) => *json,
            _ => false,
        };
        self.json || of_verb || self.output == Some(OutputFormat::Json)
    }
}

/// The verbs of `config`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show one value
    Get(ConfigGet),
    /// Set a value
    Set(ConfigSet),
    /// Set several values
    SetAll(ConfigSetAll),
    /// Remove a value
    #[command(visible_alias = "remove")]
    Rm(ConfigRemove),
    /// Remove several values
    #[command(visible_alias = "remove-all")]
    RmAll(ConfigRemoveAll),
    /// List all values
    Ls {
        /// Show secrets in plain text
        #[arg(long)]
        show_secrets: bool,
        /// As JSON
        #[arg(short, long, conflicts_with = "output")]
        json: bool,
    },
}

/// `config get`.
#[derive(Debug, Args)]
pub(crate) struct ConfigGet {
    /// The key; without a namespace it is one of the project's
    pub(crate) key: String,
    /// The key is a path into an object or list, such as a.b[0]
    #[arg(long)]
    pub(crate) path: bool,
    /// As JSON
    #[arg(short, long, conflicts_with = "output")]
    json: bool,
}

/// `config set`.
#[derive(Debug, Args)]
pub(crate) struct ConfigSet {
    /// The key; without a namespace it is one of the project's
    pub(crate) key: String,
    /// The value; read from stdin, or asked for, when not given
    #[arg(allow_hyphen_values = true)]
    pub(crate) value: Option<String>,
    /// Encrypt the value
    #[arg(long, conflicts_with = "plaintext")]
    pub(crate) secret: bool,
    /// Keep the value in plain text even if it looks like a secret
    #[arg(long)]
    pub(crate) plaintext: bool,
    /// The key is a path into an object or list, such as a.b[0]
    #[arg(long)]
    pub(crate) path: bool,
    /// The type to write the value as
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<ScalarType>,
}

/// `config set-all`.
#[derive(Debug, Args)]
pub(crate) struct ConfigSetAll {
    /// A value in plain text: KEY=VALUE
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) plaintext: Vec<String>,
    /// A value to encrypt: KEY=VALUE
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) secret: Vec<String>,
    /// Keys are paths into objects and lists
    #[arg(long)]
    pub(crate) path: bool,
    /// All values as `config --json` shows them
    #[arg(long, value_name = "JSON", conflicts_with_all = ["plaintext", "secret"])]
    pub(crate) json: Option<String>,
}

/// `config rm`.
#[derive(Debug, Args)]
pub(crate) struct ConfigRemove {
    /// The key; without a namespace it is one of the project's
    pub(crate) key: String,
    /// The key is a path into an object or list, such as a.b[0]
    #[arg(long)]
    pub(crate) path: bool,
}

/// `config rm-all`.
#[derive(Debug, Args)]
pub(crate) struct ConfigRemoveAll {
    /// The keys; without a namespace they are the project's
    #[arg(required = true, value_name = "KEY")]
    pub(crate) keys: Vec<String>,
    /// Keys are paths into objects and lists
    #[arg(long)]
    pub(crate) path: bool,
}

/// Types of scalars in a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScalarType {
    /// Text.
    String,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// A truth value.
    Bool,
}
