//! The end of an operation: stack outputs, what failed, counts and time.

use std::time::Duration;

use indexmap::IndexMap;
use maloko_core::event::{Op, Outcome, Summary};
use maloko_core::value::PropertyMap;

use super::diff::DiffText;
use super::paint::Paint;
use super::words::{count, duration, words};

/// The order in which counts are listed.
const ORDER: [Op; 8] =
    [Op::Create, Op::Update, Op::Replace, Op::Delete, Op::Read, Op::Import, Op::Refresh, Op::Discard];
/// So many failures are named again at the end.
const NAMED_FAILURES: usize = 20;

/// Characters of a reason that are named again at the end.
const LONGEST_REASON: usize = 120;

/// Stack outputs, old => new; empty when there are none.
#[must_use]
pub(super) fn outputs(text: &DiffText, old: &PropertyMap, new: &PropertyMap) -> Vec<String> {
    let lines = text.maps(old, new, true);
    if lines.is_empty() {
        return lines;
    }
    std::iter::once(text.paint.bold("Outputs:")).chain(lines).chain(std::iter::once(String::new())).collect()
}

/// What failed: the resource's name and the first line of the reason.
#[derive(Default)]
pub(super) struct Failures(IndexMap<String, Reasons>);

/// The first error of one resource, and how many more there were.
#[derive(Default)]
struct Reasons {
    first: String,
    more: usize,
}

impl Failures {
    /// A step of this resource failed; without an error that says why, it was cancelled before it began.
    pub(super) fn step(&mut self, title: String) {
        self.0.entry(title).or_default();
    }

    /// An error was reported, on a resource or (`None`) on the program; the first one of each is shown.
    pub(super) fn error(&mut self, title: Option<String>, reason: String) {
        let known = self.0.entry(title.unwrap_or_else(|| "program".to_owned())).or_default();
        if known.first.is_empty() {
            known.first = brief(reason);
        } else {
            known.more += 1;
        }
    }

    /// One line each.
    pub(super) fn lines(&self, paint: Paint) -> Vec<String> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let with_reason = || self.0.iter().filter(|(_, reasons)| !reasons.first.is_empty());
        let (failed, all) = (with_reason().count(), self.0.len());
        let mut lines = Vec::new();
        if failed > 0 {
            lines.push(paint.failure("Failed:"));
        }
        lines.extend(with_reason().take(NAMED_FAILURES).map(|(title, reasons)| match reasons.more {
            0 => format!("    {title}: {}", reasons.first),
            1 => format!("    {title}: {} (and 1 more error)", reasons.first),
            more => format!("    {title}: {} (and {} more errors)", reasons.first, count(more)),
        }));
        if failed > NAMED_FAILURES {
            lines.push(format!("    and {} more", count(failed - NAMED_FAILURES)));
        }
        match all - failed {
            0 => {}
            1 => lines.push("1 step was cancelled before it began".to_owned()),
            more => lines.push(format!("{} steps were cancelled before they began", count(more))),
        }
        lines.push(String::new());
        lines
    }
}

/// What a reason says first. The whole of it was shown when it occurred; twice is too much of a text that names ways out.
fn brief(reason: String) -> String {
    let Some((longest, _)) = reason.char_indices().nth(LONGEST_REASON) else { return reason };
    let start = &reason[..longest];
    format!("{} ...", &reason[..start.rfind(' ').unwrap_or(longest)])
}

/// The counts and the time.
#[must_use]
pub(super) fn totals(paint: Paint, summary: &Summary) -> Vec<String> {
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
    if !lines.is_empty() {
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
