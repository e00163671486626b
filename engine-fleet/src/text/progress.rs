//! How far a run is: a head line, the stacks that take longest, the last failures.

use serde::Deserialize;

use super::words::{Counts, attempts, cell, fitted, joined, lines, table, time};

/// What is known of a run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Progress {
    run: String,
    #[serde(default)]
    wave: u64,
    #[serde(default)]
    waves: u64,
    counts: Counts,
    seconds: f64,
    per_minute: Option<f64>,
    remaining: Option<f64>,
    #[serde(default)]
    state: String,
    #[serde(default)]
    stacks: Vec<AtWork>,
    #[serde(default)]
    failures: Vec<Failure>,
}

/// A stack that is worked on.
#[derive(Debug, Deserialize)]
struct AtWork {
    id: String,
    #[serde(default)]
    text: String,
    worker: Option<String>,
    #[serde(default)]
    attempt: u64,
    note: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Failure {
    id: String,
    /// `failed` or `skipped`.
    outcome: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    attempts: u64,
}

impl Progress {
    fn head(&self) -> String {
        let mut parts = vec![format!("run {}", cell(&self.run))];
        if self.waves > 1 {
            parts.push(format!("wave {} of {}", self.wave, self.waves));
        }
        if matches!(self.state.as_str(), "paused" | "cancelling" | "ended") {
            parts.push(self.state.clone());
        }
        parts.push(self.counts.parts().join("  "));
        if let Some(rate) = self.per_minute {
            parts.push(format!("{rate:.0} a minute"));
        }
        match self.remaining {
            _ if self.state == "ended" => parts.push(format!("took {}", time(self.seconds))),
            Some(remaining) if self.state == "running" || self.state.is_empty() => {
                parts.push(format!("ETA {}", time(remaining)));
            }
            _ => {}
        }
        parts.join("   ")
    }
}

impl AtWork {
    fn cells(&self) -> [String; 4] {
        let worker = self.worker.as_deref().map(|worker| format!("worker {}", cell(worker))).unwrap_or_default();
        let note = self.note.as_deref().map(cell).unwrap_or_default();
        let attempt = match (self.attempt, note.is_empty()) {
            (0 | 1, _) => note,
            (attempt, true) => format!("attempt {attempt}"),
            (attempt, false) => format!("attempt {attempt} ({note})"),
        };
        [cell(&self.id), worker, attempt, cell(&self.text)]
    }
}

/// The text of a run that goes on.
pub(super) fn text(progress: &Progress, columns: usize) -> String {
    let mut shown = vec![fitted(&progress.head(), columns)];
    let mut at_work = table();
    at_work.add_rows(progress.stacks.iter().map(AtWork::cells));
    shown.extend(lines(&at_work, "  ", columns));
    let others = progress.counts.under_way().saturating_sub(progress.stacks.len());
    if others > 0 && !progress.stacks.is_empty() {
        shown.push(fitted(&format!("  and {others} more"), columns));
    }
    let mut failures = table();
    failures.add_rows(progress.failures.iter().map(|failure| {
        let end = match (failure.outcome.as_str(), failure.attempts) {
            ("failed", 0 | 1) => "not retried".to_owned(),
            (_, 0 | 1) => String::new(),
            (_, more) => attempts(more),
        };
        // What is said of it may be long: it comes last.
        [cell(&failure.outcome), cell(&failure.id), end, cell(&failure.text)]
    }));
    shown.extend(lines(&failures, "", columns));
    joined(&shown)
}
