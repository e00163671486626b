//! How a run ended.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::words::{Counts, cell, fitted, joined, lines, table, time};

/// The end of a run.
#[derive(Debug, Deserialize)]
pub(super) struct Results {
    run: String,
    #[serde(default)]
    verb: String,
    outcome: String,
    seconds: f64,
    counts: Counts,
    #[serde(default)]
    ends: Vec<StackEnd>,
}

/// The end of a stack.
#[derive(Debug, Deserialize)]
struct StackEnd {
    id: String,
    outcome: String,
    #[serde(default)]
    changes: Option<BTreeMap<String, u64>>,
    reason: Option<String>,
    text: Option<String>,
    #[serde(default)]
    attempts: u64,
}

/// What people look for, the worst first.
const TOLD: [&str; 3] = ["failed", "skipped", "cancelled"];
/// What was left as it is, which is no change.
const SAME: &str = "same";

impl StackEnd {
    fn cells(&self) -> [String; 4] {
        let reason = self.reason.as_deref().unwrap_or_default();
        let first = self.text.as_deref().and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
        let attempts = if self.attempts > 1 { format!("  ({} attempts)", self.attempts) } else { String::new() };
        let told = format!("{}{attempts}", cell(first.unwrap_or_default().trim()));
        [self.outcome.clone(), cell(&self.id), cell(reason), told]
    }
}

/// A table of what did not go well, and a line that counts all.
pub(super) fn text(results: &Results, columns: usize) -> String {
    let mut shown = table();
    for outcome in TOLD {
        shown.add_rows(results.ends.iter().filter(|end| end.outcome == outcome).map(StackEnd::cells));
    }
    let mut changes: BTreeMap<&str, u64> = BTreeMap::new();
    for (change, number) in results.ends.iter().filter_map(|end| end.changes.as_ref()).flatten() {
        *changes.entry(change).or_default() += number;
    }
    let changes = changes.into_iter().filter(|(change, number)| *change != SAME && *number > 0);
    let changes: Vec<String> = changes.map(|(change, number)| format!("{number} {}", cell(change))).collect();
    let mut parts = vec![format!("run {}", cell(&results.run))];
    if !results.verb.is_empty() {
        parts.push(cell(&results.verb));
    }
    parts.push(format!("{} in {}", cell(&results.outcome), time(results.seconds)));
    parts.push(results.counts.parts().join("  "));
    if !changes.is_empty() {
        parts.push(format!("resources: {}", changes.join(", ")));
    }
    let mut told = lines(&shown, "", columns);
    told.push(fitted(&parts.join("   "), columns));
    joined(&told)
}
