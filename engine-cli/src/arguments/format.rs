//! `--json` and `--output`: whether a command writes for people or for programs. And how durations are written.

use std::ffi::OsStr;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, ValueEnum};
use maloko_core::duration::parse_duration;

use super::ColorChoice;

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

/// Reads when output is coloured. Scripts look for the first words of its error, before which clap would put its own.
#[derive(Clone, Copy)]
pub(super) struct ColorParser;

impl TypedValueParser for ColorParser {
    type Value = ColorChoice;

    fn parse_ref(&self, grammar: &Command, _: Option<&Arg>, value: &OsStr) -> Result<ColorChoice, clap::Error> {
        let text = value.to_string_lossy();
        ColorChoice::from_str(&text, false).map_err(|_| {
            let wrong = format!("unsupported color option '{text}'; these are supported: always, never, raw, auto\n");
            clap::Error::raw(ErrorKind::InvalidValue, wrong).with_cmd(grammar)
        })
    }
}

/// A duration as Go writes it.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let seconds = parse_duration(text).filter(|_| !text.is_empty());
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| "write a number and a unit, such as 90s, 5m or 1h30m".to_owned())
}
