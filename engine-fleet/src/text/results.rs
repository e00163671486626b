//! How a run ended.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::words::{Counts, attempts, cell, fitted, joined, lines, numbered, table, time};

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
    #[serde(default)]
    warnings: Vec<String>,
    #[serde(default)]
    differences: Vec<String>,
    #[serde(default)]
    outputs: Option<Map<String, Json>>,
}

/// What people look for, the worst first.
const TOLD: [&str; 3] = ["failed", "skipped", "cancelled"];
/// Lines of a kind that are shown; `--json` has all.
const SHOWN: usize = 20;
/// What is no change: what is left as it is, and what is only read or no longer read.
const NO_CHANGE: [&str; 3] = ["same", "read", "discard"];
/// Runs that look at the resources of the states.
const READS: [&str; 2] = ["drift", "refresh"];
/// Runs that change nothing: which stacks they would change is what people ask them for.
const LOOKS: [&str; 2] = ["preview", "drift"];

impl Results {
    fn is_look(&self) -> bool {
        LOOKS.contains(&self.verb.as_str())
    }
}

impl StackEnd {
    fn why(&self) -> (String, String) {
        let reason = self.reason.as_deref().filter(|reason| *reason != self.outcome).unwrap_or_default();
        let first = self.text.as_deref().and_then(|text| text.lines().find(|line| !line.trim().is_empty()));
        (cell(reason), cell(first.unwrap_or_default().trim()))
    }

    fn changed(&self) -> String {
        changes(self.changes.iter().flatten())
    }

    /// What a look has found, as far as it was told.
    fn found(&self) -> String {
        let told = self.differences.len() as u64;
        let all: u64 =
            self.changes.iter().flatten().filter(|(change, _)| is_change(change)).map(|(_, number)| number).sum();
        let list = cell(&self.differences.join("; "));
        if told > 0 && all > told { format!("{list}; and {} more", all - told) } else { list }
    }
}

/// What did not go well (those with the same reason in one row), what a look has found, outputs, and a line that counts all.
pub(super) fn text(results: &Results, columns: usize) -> String {
    let mut shown = table();
    let mut more = Vec::new();
    for outcome in TOLD {
        let rows = rows(results.ends.iter().filter(|end| end.outcome == outcome));
        shown.add_rows(rows.iter().take(SHOWN).cloned());
        if rows.len() > SHOWN {
            more.push(format!("and {} more {outcome}: `--json` lists them", rows.len() - SHOWN));
        }
    }
    let found: Vec<&StackEnd> = results.ends.iter().filter(|end| end.outcome == "done").collect();
    // What many stacks have in common is in the last line; of a few, each is told.
    if results.is_look() || found.len() <= SHOWN {
        let word = match results.verb.as_str() {
            "drift" => "drift",
            "preview" => "changes",
            _ => "done",
        };
        shown
            .add_rows(found.iter().take(SHOWN).map(|end| [word.to_owned(), cell(&end.id), end.changed(), end.found()]));
        if found.len() > SHOWN {
            more.push(format!("and {} more with {word}: `--json` lists them", found.len() - SHOWN));
        }
    } else {
        more.push(format!("{} done: `--json` lists them", found.len()));
    }
    let warnings = results.ends.iter().flat_map(|end| end.warnings.iter().map(move |warning| (end, warning)));
    let warnings: Vec<_> = warnings.collect();
    let row = |(end, text): &(&StackEnd, &String)| ["warning".to_owned(), cell(&end.id), cell(text)];
    let mut warned = table();
    warned.add_rows(warnings.iter().take(SHOWN).map(row));
    if warnings.len() > SHOWN {
        more.push(format!("and {} more warnings: `--json` lists them", warnings.len() - SHOWN));
    }
    let mut told = lines(&shown, "", columns);
    told.extend(lines(&warned, "", columns));
    told.extend(more);
    told.extend(lines(&outputs(&results.ends), "", columns));
    told.push(fitted(&summary(results), columns));
    let is_empty = |end: &&StackEnd| end.outcome == "unchanged" && end.changes.iter().flatten().next().is_none();
    let empty = results.ends.iter().filter(is_empty).count();
    if empty > 0 && READS.contains(&results.verb.as_str()) {
        let found = if empty == 1 { "1 stack has".to_owned() } else { format!("{empty} stacks have") };
        told.push(fitted(&format!("{found} no resources in the state: never made, or destroyed"), columns));
    }
    if results.verb == "drift" && results.ends.iter().any(|end| end.outcome == "done") {
        let next = "nothing was changed: `maloko fleet refresh` takes it into the states; a `maloko fleet up` after that undoes it";
        told.push(fitted(next, columns));
    }
    joined(&told)
}

/// Ends that are told in one row: those of one reason.
struct Group<'a> {
    reason: String,
    text: String,
    first: &'a StackEnd,
    size: usize,
}

impl Group<'_> {
    fn holds(&self, end: &StackEnd, reason: &str, text: &str) -> bool {
        self.reason == reason && self.text == text && self.first.attempts.max(1) == end.attempts.max(1)
    }

    fn cells(&self) -> [String; 4] {
        let first = cell(&self.first.id);
        let names = if self.size == 1 { first } else { format!("{first} and {} more", self.size - 1) };
        let tries = self.first.attempts;
        let tries = if tries > 1 { format!("  ({})", attempts(tries)) } else { String::new() };
        [self.first.outcome.clone(), names, self.reason.clone(), format!("{}{tries}", self.text)]
    }
}

/// A row for each reason, in the order in which they came.
fn rows<'a>(ends: impl Iterator<Item = &'a StackEnd>) -> Vec<[String; 4]> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for end in ends {
        let (reason, text) = end.why();
        match groups.iter_mut().find(|group| group.holds(end, &reason, &text)) {
            Some(group) => group.size += 1,
            None => groups.push(Group { reason, text, first: end, size: 1 }),
        }
    }
    groups.iter().map(Group::cells).collect()
}

fn outputs(ends: &[StackEnd]) -> comfy_table::Table {
    let mut shown = table();
    for end in ends {
        for (name, value) in end.outputs.iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            shown.add_row(["output".to_owned(), cell(&end.id), cell(name), cell(&text)]);
        }
    }
    shown
}

fn summary(results: &Results) -> String {
    let mut sums: BTreeMap<&String, u64> = BTreeMap::new();
    for (change, number) in results.ends.iter().filter_map(|end| end.changes.as_ref()).flatten() {
        *sums.entry(change).or_default() += number;
    }
    let mut parts = vec![format!("run {}", cell(&results.run))];
    if !results.verb.is_empty() {
        parts.push(cell(&results.verb));
    }
    parts.push(format!("{} in {}", cell(&results.outcome), time(results.seconds)));
    let counts = if results.is_look() { results.counts.parts_of_look() } else { results.counts.parts() };
    parts.push(counts.join("  "));
    let changed = changes(sums.iter().map(|(change, number)| (*change, number)));
    if !changed.is_empty() {
        parts.push(format!("resources: {changed}"));
    }
    parts.join("   ")
}

fn changes<'a>(all: impl Iterator<Item = (&'a String, &'a u64)>) -> String {
    numbered(all.filter(|(change, number)| is_change(change) && **number > 0))
}

fn is_change(change: &str) -> bool {
    !NO_CHANGE.contains(&change)
}
