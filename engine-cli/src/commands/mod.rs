//! The commands that look after stacks, configuration, state and projects.

pub(crate) mod about;
pub(crate) mod cancel;
pub(crate) mod check;
pub(crate) mod config;
#[cfg(test)]
mod damage_tests;
pub(crate) mod elsewhere;
pub(crate) mod fleet;
pub(crate) mod help;
pub(crate) mod install;
pub(crate) mod login;
pub(crate) mod new;
pub(crate) mod package;
pub(crate) mod packages;
#[cfg(test)]
mod places_tests;
pub(crate) mod plugin;
pub(crate) mod policy;
pub(crate) mod provider;
mod remote_components;
mod rewrite;
pub(crate) mod shim;
pub(crate) mod stack;
pub(crate) mod state;
mod steps;
#[cfg(test)]
mod tests;
mod typed_packages;
#[cfg(test)]
mod unheard_tests;
#[cfg(test)]
mod wrong_key_tests;

use comfy_table::{Table, presets};
use maloko_core::invisible::harmless_json;

/// A table without lines, as commands print it.
fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table
}

/// The table as text without blanks at the ends of lines.
fn text(table: &Table) -> String {
    table.to_string().lines().map(str::trim_end).map(|line| line.strip_prefix(' ').unwrap_or(line)).fold(
        String::new(),
        |mut text, line| {
            text.push_str(line);
            text.push('\n');
            text
        },
    )
}

/// JSON as commands print it.
fn pretty(value: &serde_json::Value) -> String {
    // A value that is already JSON can always be written.
    harmless_json(&serde_json::to_string_pretty(value).unwrap_or_default()).into_owned()
}
