//! Flags of `stack tag`.

use clap::Subcommand;

use super::FormatArguments;

/// What `stack tag` does.
#[derive(Debug, Subcommand)]
pub(crate) enum StackTagCommand {
    /// Show the value of a tag
    Get {
        /// The tag
        name: String,
    },
    /// Give the stack a tag, or a tag another value
    Set {
        /// The tag: letters, digits, `-`, `_`, `.` and `:`
        name: String,
        /// Its value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Remove a tag
    #[command(visible_alias = "remove")]
    Rm {
        /// The tag
        name: String,
    },
    /// List the stack's tags
    #[command(visible_alias = "list")]
    Ls {
        /// How to write.
        #[command(flatten)]
        format: FormatArguments,
    },
}
