//! The end of an operation: stack outputs, counts and time.

use std::time::Duration;

use maloko_core::event::{Op, Outcome, Summary};
use maloko_core::value::PropertyMap;

use super::diff::DiffText;
use super::paint::Paint;
use super::words::{count, duration, words};

/// The order in which counts are listed.
const ORDER: [Op; 11] = [
    Op::Create,
    Op::Update,
    Op::Replace,
    Op::Delete,
    Op::DeleteWith,
    Op::RemovePendingReplace,
    Op::Retain,
    Op::Read,
    Op::Import,
    Op::Refresh,
    Op::Discard,
];

/// Stack outputs, old => new: those that change, and all of them after a run that has changed something.
#[must_use]
pub(super) fn outputs(text: &DiffText, old: &PropertyMap, new: &PropertyMap, summary: &Summary) -> Vec<String> {
    let has_changed = summary.changes.iter().any(|(op, number)| *op != Op::Same.name() && *number > 0);
    let lines = text.maps(old, new, has_changed && !summary.is_preview);
    if lines.is_empty() {
        return lines;
    }
    std::iter::once(text.paint.bold("Outputs:")).chain(lines).chain(std::iter::once(String::new())).collect()
}

/// The counts, where they are wanted, and the time.
#[must_use]
pub(super) fn totals(paint: Paint, summary: &Summary, with_counts: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let number = |op: Op| summary.changes.get(op.name()).copied().unwrap_or(0);
    let changed = ORDER.iter().filter(|op| number(**op) > 0).map(|op| {
        let words = words(*op);
        let verb = if summary.is_preview { format!("to {}", words.plan) } else { words.done.to_owned() };
        paint.op(*op, &format!("    {} {} {verb}", words.marker, counted(number(*op))))
    });
    lines.extend(changed);
    if number(Op::Same) > 0 {
        lines.push(format!("    {} unchanged", counted(number(Op::Same))));
    }
    if !with_counts {
        lines.clear();
    } else if !lines.is_empty() {
        lines.insert(0, paint.bold("Resources:"));
        lines.push(String::new());
    }
    let time = Duration::try_from_secs_f64(summary.duration_seconds).unwrap_or_default();
    lines.push(format!("{} {}", paint.bold("Duration:"), duration(time)));
    let verdict = match (summary.outcome, summary.is_preview) {
        (Outcome::Succeeded, _) => None,
        (Outcome::Failed, true) => Some("The preview failed."),
        (Outcome::Failed, false) => {
            Some("The operation failed. What was done is kept; the next run goes on from there.")
        }
        (Outcome::Cancelled, true) => Some("The preview was cancelled."),
        (Outcome::Cancelled, false) => {
            Some("The operation was cancelled. What was done is kept; the next run goes on from there.")
        }
    };
    // That a failed call may have done something (`maybe_corrupt`) the engine says where it happened.
    lines.extend(verdict.map(|text| paint.failure(text)));
    lines
}

fn counted(number: u64) -> String {
    usize::try_from(number).map_or_else(|_| number.to_string(), count)
}
