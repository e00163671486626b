//! The runs of a fleet.

use serde::Deserialize;

use super::words::{cell, joined, lines, moment, table};

#[derive(Debug, Deserialize)]
pub(super) struct Runs {
    runs: Vec<Run>,
}

#[derive(Debug, Deserialize)]
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
}

/// A table of runs.
pub(super) fn text(runs: &Runs, columns: usize) -> String {
    if runs.runs.is_empty() {
        return "There are no runs\n".to_owned();
    }
    let mut shown = table();
    shown.set_header(["RUN", "VERB", "STATE", "STARTED", "STACKS", "FAILED"]);
    shown.add_rows(runs.runs.iter().map(|run| {
        let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        let started = run.started.as_deref().map(moment).unwrap_or_default();
        [run.name.clone(), run.verb.clone(), run.state.clone(), started, number(run.stacks), number(run.failed)]
            .map(|text| cell(&text))
    }));
    joined(&lines(&shown, "", columns))
}
