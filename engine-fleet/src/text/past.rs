//! What the runs of a fleet did with one stack.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::words::{cell, joined, lines, moment, numbered, table};

#[derive(Debug, Deserialize)]
pub(super) struct Past {
    stack: String,
    operations: Vec<Operation>,
}

#[derive(Debug, Deserialize)]
struct Operation {
    run: String,
    attempt: u64,
    kind: String,
    result: String,
    #[serde(default)]
    started: Option<String>,
    #[serde(default)]
    changes: BTreeMap<String, u64>,
}

/// A table of operations.
pub(super) fn text(past: &Past, columns: usize) -> String {
    if past.operations.is_empty() {
        return format!("No run of the fleet has worked on {}\n", cell(&past.stack));
    }
    let mut shown = table();
    shown.set_header(["RUN", "ATTEMPT", "KIND", "RESULT", "STARTED", "CHANGES"]);
    shown.add_rows(past.operations.iter().map(|operation| {
        let started = operation.started.as_deref().map(moment).unwrap_or_default();
        let Operation { run, attempt, kind, result, .. } = operation;
        [run.clone(), attempt.to_string(), kind.clone(), result.clone(), started, numbered(&operation.changes)]
            .map(|text| cell(&text))
    }));
    joined(&lines(&shown, "", columns))
}
