//! `--json` and `--output`: whether a command writes for people or for programs.

use clap::{Args, ValueEnum};

/// Flags of the commands that list or show something.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct FormatArguments {
    /// As JSON
    #[arg(short, long)]
    json: bool,
    /// How to write: `json` is the same as --json
    #[arg(long, value_name = "FORMAT", conflicts_with = "json")]
    output: Option<OutputFormat>,
}

impl FormatArguments {
    /// Is JSON wanted?
    #[must_use]
    pub(crate) fn json(self) -> bool {
        self.json || self.output == Some(OutputFormat::Json)
    }
}

/// How a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people.
    #[value(alias = "text")]
    Default,
    /// For programs.
    Json,
}
