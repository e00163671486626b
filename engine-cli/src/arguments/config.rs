//! Flags and verbs of `config`.

use clap::{Args, Subcommand, ValueEnum};

use super::elsewhere::ConfigElsewhere;
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
    /// There are no environments that could be opened.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    open: Option<String>,
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
    /// Copy a value, or all, to another stack
    #[command(visible_alias = "cp")]
    Copy(ConfigCopy),
    /// Write the configuration that the last operation went by into the settings file
    Refresh {
        /// Keep no copy of the file as it is now
        #[arg(short, long)]
        force: bool,
    },
    /// Verbs that are not here.
    #[command(flatten)]
    Elsewhere(ConfigElsewhere),
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
    /// There are no environments that could be opened.
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    open: Option<String>,
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
    /// Take the value as it is: a text, whatever it looks like, and the last end of line of what is piped in
    #[arg(long, conflicts_with = "kind")]
    pub(crate) raw: bool,
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

/// `config copy`.
#[derive(Debug, Args)]
pub(crate) struct ConfigCopy {
    /// The key; all when not given
    pub(crate) key: Option<String>,
    /// The stack that gets the values
    #[arg(short, long, value_name = "STACK")]
    pub(crate) dest: String,
    /// The key is a path into an object or list, such as a.b[0]
    #[arg(long, requires = "key")]
    pub(crate) path: bool,
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
