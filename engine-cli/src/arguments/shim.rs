//! A `pulumi` that is maloko: the verb that makes one, and the arguments that only `pulumi` has.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Subcommand;
use clap::error::ErrorKind;

/// The verbs of `shim`.
#[derive(Debug, Subcommand)]
pub(crate) enum ShimCommand {
    /// Write it into a folder; put that before others into PATH
    Install {
        /// The folder
        directory: PathBuf,
    },
}

/// Flags of `pulumi` about its own log, its profile and its looks, without a value.
const WITHOUT_VALUE: [&str; 6] = ["--logflow", "--logtostderr", "-e", "--emoji", "-Q", "--fully-qualify-stack-names"];
/// The same with a value, which may be a word of its own.
const WITH_VALUE: [&str; 5] = ["--tracing", "--tracing-header", "--profiling", "--memprofilerate", "--verbose"];

/// Prints help, or an error in the words that those look for who call `pulumi`.
pub(crate) fn print_as_pulumi(error: &clap::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::DisplayHelp => {
            error.print()?;
            let flags = WITHOUT_VALUE.into_iter().chain(WITH_VALUE).filter(|flag| flag.starts_with("--"));
            writeln!(io::stdout(), "\nTaken without an effect: {}", flags.collect::<Vec<_>>().join(", "))
        }
        ErrorKind::ValueValidation => {
            let text = error.to_string().replacen("error: invalid value", "error: invalid argument", 1);
            write!(io::stderr(), "{text}")
        }
        _ => error.print(),
    }
}

/// The arguments that a tool gives to `pulumi`, without what has no effect here: tools send such flags whenever their own log is
/// to be long. What is behind `--` stays.
pub(crate) fn of_pulumi(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut left = Vec::with_capacity(arguments.len());
    let mut given = arguments.into_iter().peekable();
    while let Some(argument) = given.next() {
        let text = argument.to_str().unwrap_or_default();
        if text == "--" {
            left.push(argument);
            left.extend(given);
            break;
        }
        let is_number = |text: &OsString| text.to_str().is_some_and(|text| text.parse::<u32>().is_ok());
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if WITHOUT_VALUE.contains(&name) {
            continue;
        }
        // `whoami` has flags of these names without a number.
        let is_verbosity = matches!(name, "--verbose" | "-v");
        if is_verbosity && !text.contains('=') && !given.peek().is_some_and(is_number) {
            left.push(argument);
        } else if WITH_VALUE.contains(&name) || is_verbosity {
            if !text.contains('=') {
                given.next();
            }
        } else {
            left.push(argument);
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::of_pulumi;

    fn left(line: &str) -> String {
        let arguments = of_pulumi(line.split(' ').map(Into::into).collect());
        arguments.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_about_the_other_tool_s_log_are_left_out() {
        assert_eq!(left("up --logflow --verbose 9 --logtostderr --yes"), "up --yes");
        assert_eq!(left("up -v=3 --verbose=9 --tracing=file:x --yes"), "up --yes");
        assert_eq!(left("-e preview --tracing file:x --diff"), "preview --diff");
    }

    #[test]
    fn what_looks_alike_stays() {
        assert_eq!(left("whoami --verbose --json"), "whoami --verbose --json");
        assert_eq!(left("whoami -v"), "whoami -v");
        assert_eq!(left("config set a --plaintext -- --logflow"), "config set a --plaintext -- --logflow");
    }
}
