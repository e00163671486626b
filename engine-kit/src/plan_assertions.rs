//! What tests assert of plans, in which words it fails, and how a plan reads.

use maloko_core::redaction::SECRET_TEXT;
use maloko_core::value::{SECRET_SIGNATURE, SIGNATURE_KEY, UNKNOWN_TEXT};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};

use crate::plan::Entry;

/// What stands for a value that is not known before it is deployed.
const UNKNOWN_SHOWN: &str = "[unknown]";
/// A longer value is cut off in texts (characters).
const MAX_SHOWN: usize = 200;

/// A plan entry as a test holds it: [`crate::plan::Entry`] without what no text tells.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Step {
    /// What the resource is called in this plan.
    key: String,
    action: String,
    #[serde(default, deserialize_with = "in_order")]
    changes: Vec<(String, Difference)>,
    #[serde(default)]
    replaces: Vec<String>,
    #[serde(default)]
    delete_before_replace: bool,
    #[serde(default)]
    failed: bool,
}

/// How one property differs. `None` is no value, and [`Json::Null`] is a value.
#[derive(Debug, Deserialize)]
struct Difference {
    kind: String,
    #[serde(default, deserialize_with = "given")]
    old: Option<Json>,
    #[serde(default, deserialize_with = "given")]
    new: Option<Json>,
}

/// JSON's own map keeps the order of its members.
fn in_order<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, Difference)>, D::Error> {
    let changes = Map::deserialize(from)?.into_iter();
    changes.map(|(path, how)| Ok((path, serde_json::from_value(how).map_err(D::Error::custom)?))).collect()
}

fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(from).map(Some)
}

/// What a test expects of one resource.
#[derive(Debug, Deserialize)]
pub(crate) struct ExpectedStep {
    /// What the resource is called.
    key: String,
    /// What the test wrote, as its language shows it.
    shown: String,
    /// Where the entry is otherwise, by the matchers of the language; none where it is as expected, or where there is no
    /// entry.
    mismatches: Vec<String>,
}

/// What a plan must not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Demand {
    /// Nothing but `same` and `read`.
    NoChanges,
    /// No replacement.
    NoReplacements,
    /// No deletion. A replacement deletes the old object, so it counts.
    NoDeletions,
    /// No object of an earlier release is lost, by a deletion or a replacement.
    UpgradeSafe,
}

impl Demand {
    fn forbids(self, step: &Step) -> bool {
        match self {
            Self::NoChanges => is_change(&step.action),
            Self::NoReplacements => step.action == "replace",
            Self::NoDeletions | Self::UpgradeSafe => {
                matches!(step.action.as_str(), "delete" | "delete-with" | "replace")
            }
        }
    }

    /// What a plan does that is not as demanded, and what one does that is.
    fn verbs(self) -> [&'static str; 2] {
        match self {
            Self::NoChanges => ["changes something", "changes nothing"],
            Self::NoReplacements => ["replaces something", "replaces nothing"],
            Self::NoDeletions => ["deletes something", "deletes nothing"],
            Self::UpgradeSafe => ["loses objects of the earlier release", "loses no object of the earlier release"],
        }
    }
}

/// Is an action more than a look?
pub(crate) fn is_change(action: &str) -> bool {
    !matches!(action, "same" | "read")
}

/// Where a plan is not as expected, a line for each resource and below it one for each property; empty when it is. What is
/// not expected by name must be `same` or `read`.
pub(crate) fn differences(steps: &[Step], expected: &[ExpectedStep]) -> Vec<String> {
    let mut lines = Vec::new();
    for wanted in expected {
        match steps.iter().find(|step| step.key == wanted.key) {
            None => {
                lines.push(format!("- {}: expected {}, but nothing is done to it", wanted.key, wanted.shown));
            }
            Some(step) if !wanted.mismatches.is_empty() => {
                lines.extend(wanted.mismatches.iter().map(|wrong| format!("  {}: {wrong}", wanted.key)));
                lines.extend(step.changes().map(|line| format!("  {line}")));
            }
            Some(_) => {}
        }
    }
    let more = steps.iter().filter(|step| is_change(&step.action));
    for step in more.filter(|step| expected.iter().all(|wanted| wanted.key != step.key)) {
        lines.push(format!("+ {}: {}, which is not expected", step.key, step.action));
        lines.extend(step.changes().map(|line| format!("  {line}")));
    }
    lines
}

/// Whether a plan meets a demand, and why a test that asserts the opposite fails.
pub(crate) fn judge(steps: &[Step], demand: Demand) -> (bool, String) {
    let found: Vec<&Step> = steps.iter().filter(|step| demand.forbids(step)).collect();
    let [bad, good] = demand.verbs();
    if found.is_empty() {
        return (true, format!("expected a plan that {bad}; it has\n{}", indented(&text(steps))));
    }
    let listed: Vec<String> = found.iter().map(|step| indented(&step.text())).collect();
    let listed = listed.join("\n");
    let text = if demand == Demand::UpgradeSafe {
        format!(
            "the upgrade is not safe: of what the earlier release deployed, objects would be lost\n{listed}\nLet `diff` \
             answer without `replaces` for what older releases stored, or record the baseline anew if this is meant"
        )
    } else {
        format!("expected a plan that {good}; it has\n{listed}")
    };
    (false, text)
}

/// A plan as lines: one for each resource that changes, and below it one for each property that differs.
pub(crate) fn text(steps: &[Step]) -> String {
    let lines: Vec<String> = steps.iter().filter(|step| is_change(&step.action)).map(Step::text).collect();
    if lines.is_empty() { "nothing to do".to_owned() } else { lines.join("\n") }
}

impl From<&Entry> for Step {
    fn from(entry: &Entry) -> Self {
        let changes = entry.changes.iter().map(|(path, change)| {
            let difference =
                Difference { kind: change.kind.to_owned(), old: change.old.clone(), new: change.new.clone() };
            (path.clone(), difference)
        });
        Self {
            key: entry.key.clone(),
            action: entry.action.to_owned(),
            changes: changes.collect(),
            replaces: entry.replaces.clone(),
            delete_before_replace: entry.delete_before_replace,
            failed: entry.failed,
        }
    }
}

impl Step {
    /// How many properties differ.
    pub(crate) fn count(&self) -> usize {
        self.changes.len()
    }

    /// Leaves out the changes of other properties.
    pub(crate) fn keep(&mut self, is_kept: impl Fn(&str) -> bool) {
        self.changes.retain(|(path, _)| is_kept(path));
    }

    fn text(&self) -> String {
        let mut text = format!("{} {}", self.action, self.key);
        if !self.replaces.is_empty() {
            text.push_str(" because of ");
            text.push_str(&self.replaces.join(", "));
        }
        if self.delete_before_replace && self.action == "replace" {
            text.push_str(" (deletes first)");
        }
        if self.failed {
            text.push_str(" (failed)");
        }
        for line in self.changes() {
            text.push('\n');
            text.push_str(&line);
        }
        text
    }

    fn changes(&self) -> impl Iterator<Item = String> {
        self.changes.iter().map(|(path, difference)| {
            let needs = if difference.kind.ends_with("-replace") { " (needs a replacement)" } else { "" };
            format!("    {path}: {} -> {}{needs}", shown(difference.old.as_ref()), shown(difference.new.as_ref()))
        })
    }
}

pub(crate) fn indented(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("  {line}")).collect();
    lines.join("\n")
}

pub(crate) fn shown(value: Option<&Json>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let text = match mark(value) {
        Some(mark) => mark.to_owned(),
        None => written(value),
    };
    if text.chars().count() <= MAX_SHOWN {
        return text;
    }
    text.chars().take(MAX_SHOWN - 1).chain(['…']).collect()
}

/// JSON, with secrets and unknown values as their marks at any depth.
fn written(value: &Json) -> String {
    match value {
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(written_inside).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(key, item)| format!("{}: {}", Json::from(key.as_str()), written_inside(item)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        other => other.to_string(),
    }
}

fn written_inside(value: &Json) -> String {
    mark(value).map_or_else(|| written(value), str::to_owned)
}

/// A host may hand back its own mark in the place of the engine's.
fn mark(value: &Json) -> Option<&'static str> {
    match value {
        Json::String(text) if text == UNKNOWN_TEXT || text == UNKNOWN_SHOWN => Some(UNKNOWN_SHOWN),
        Json::String(text) if text == SECRET_TEXT => Some(SECRET_TEXT),
        Json::Object(members) if members.get(SIGNATURE_KEY).and_then(Json::as_str) == Some(SECRET_SIGNATURE) => {
            Some(SECRET_TEXT)
        }
        _ => None,
    }
}

/// A value with secrets and unknown values as their marks at any depth.
pub(crate) fn with_marks(value: &Json) -> Json {
    match (mark(value), value) {
        (Some(mark), _) => mark.into(),
        (None, Json::Array(items)) => items.iter().map(with_marks).collect(),
        (None, Json::Object(members)) => members.iter().map(|(key, item)| (key.clone(), with_marks(item))).collect(),
        (None, other) => other.clone(),
    }
}

#[cfg(test)]
#[path = "plan_assertions_tests.rs"]
mod tests;
