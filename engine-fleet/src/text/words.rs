//! Counts, times, and lines that fit.

use std::time::Duration;

use comfy_table::{Table, presets};
use jiff::Timestamp;
use maloko_core::duration::readable;
use maloko_core::invisible::one_line;
use serde::{Deserialize, Serialize};

/// How many stacks of a run stand where.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    done: u64,
    unchanged: u64,
    running: u64,
    retrying: u64,
    failed: u64,
    skipped: u64,
    cancelled: u64,
    waiting: u64,
}

impl Counts {
    /// How many have begun and not ended.
    pub(super) fn under_way(&self) -> usize {
        usize::try_from(self.running + self.retrying).unwrap_or(usize::MAX)
    }

    /// Those of which there are any, and always the first.
    pub(super) fn parts(&self) -> Vec<String> {
        self.named("done")
    }

    /// The same of a run that changes nothing: what is done with a stack is no more than to find that it differs.
    pub(super) fn parts_of_look(&self) -> Vec<String> {
        self.named("differ")
    }

    fn named(&self, done: &str) -> Vec<String> {
        let named = [
            (self.done, done),
            (self.unchanged, "unchanged"),
            (self.running, "running"),
            (self.retrying, "retrying"),
            (self.failed, "failed"),
            (self.skipped, "skipped"),
            (self.cancelled, "cancelled"),
            (self.waiting, "wait"),
        ];
        let shown = named.iter().enumerate().filter(|(index, (number, _))| *index == 0 || *number > 0);
        shown.map(|(_, (number, word))| format!("{number} {word}")).collect()
    }
}

/// How often a stack was begun.
pub(super) fn attempts(number: u64) -> String {
    format!("{number} attempts")
}

/// What was done how often: `2 create, 1 update`.
pub(super) fn numbered<'a>(changes: impl IntoIterator<Item = (&'a String, &'a u64)>) -> String {
    let each = changes.into_iter().map(|(change, number)| format!("{number} {}", cell(change)));
    each.collect::<Vec<_>>().join(", ")
}

/// Seconds as people read them.
pub(super) fn time(seconds: f64) -> String {
    readable(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// A time as people read it; what is no time is shown as it is.
pub(super) fn moment(time: &str) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => time.to_owned(),
    }
}

/// A table without lines.
pub(super) fn table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// A cell, which has one line and nothing that a terminal obeys.
pub(super) fn cell(text: &str) -> String {
    one_line(text)
}

/// The lines of a table, none of them wider than so many columns; 0 for any width. `indent` stands before each.
pub(super) fn lines(table: &Table, indent: &str, columns: usize) -> Vec<String> {
    let text = table.to_string();
    let line = |line: &str| format!("{indent}{}", line.strip_prefix(' ').unwrap_or(line).trim_end());
    text.lines().filter(|line| !line.trim().is_empty()).map(|it| fitted(&line(it), columns)).collect()
}

/// A line that is cut where it is too wide; 0 columns for any width.
pub(super) fn fitted(line: &str, columns: usize) -> String {
    if columns == 0 { line.to_owned() } else { console::truncate_str(line, columns, "…").into_owned() }
}

/// Lines as a text.
pub(super) fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}
