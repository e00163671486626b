//! The runs of a fleet.

use serde::Deserialize;

use super::words::{cell, joined, lines, moment, table};

#[derive(Debug, Deserialize)]
pub(super) struct Runs {
    runs: Vec<Run>,
}

#[derive(Clone, Debug, Deserialize)]
struct Run {
    #[serde(rename = "run")]
    name: String,
    #[serde(default)]
    verb: String,
    #[serde(default)]
    state: String,
    #[serde(default)]
    started: Option<String>,
    #[serde(default)]
    stacks: Option<u64>,
    #[serde(default)]
    failed: Option<u64>,
    #[serde(default)]
    message: Option<String>,
}

/// A table of runs.
pub(super) fn text(runs: &Runs, columns: usize) -> String {
    if runs.runs.is_empty() {
        return "There are no runs\n".to_owned();
    }
    let mut shown = table();
    // Few runs have one.
    let has_messages = runs.runs.iter().any(|run| run.message.as_deref().is_some_and(|message| !message.is_empty()));
    let titles = ["RUN", "VERB", "STATE", "STARTED", "STACKS", "FAILED", "MESSAGE"];
    let columns_shown = if has_messages { titles.len() } else { titles.len() - 1 };
    shown.set_header(&titles[..columns_shown]);
    shown.add_rows(runs.runs.iter().map(|run| {
        let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let started = run.started.as_deref().map(moment).unwrap_or_default();
        let Run { name, verb, state, .. } = run.clone();
        let message = run.message.clone().unwrap_or_default();
        let cells = [name, verb, state, started, number(run.stacks), number(run.failed), message];
        cells.into_iter().take(columns_shown).map(|text| cell(&text)).collect::<Vec<_>>()
    }));
    joined(&lines(&shown, "", columns))
}
