//! What the lines of a journal are called among the points at which a run can be cut off.
//!
//! Every line of every run is read here, so nothing is kept of it but the two texts that make its label.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
struct Line<'a> {
    fold: Option<IgnoredAny>,
    #[serde(borrow)]
    changes: Option<Vec<Change<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change<'a> {
    #[serde(borrow)]
    Begin(Content<'a>),
    End(IgnoredAny),
    #[serde(borrow)]
    Put(Content<'a>),
    #[serde(borrow)]
    Set(Content<'a>),
    Remove(IgnoredAny),
    #[serde(rename = "suspect")]
    UnresolvedCreate(IgnoredAny),
    Cleared(IgnoredAny),
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "row")]
    resource: NamedResource<'a>,
}

#[derive(Deserialize)]
struct NamedResource<'a> {
    #[serde(borrow)]
    urn: Cow<'a, str>,
}

impl Content<'_> {
    fn name(&self) -> &str {
        self.resource.urn.rsplit("::").next().unwrap_or_default()
    }
}

/// The label of a line; `None` for the first one, which records nothing.
pub(crate) fn of_line(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    let line: Line<'_> = serde_json::from_str(text.split_once(' ')?.1).ok()?;
    if line.fold.is_some() {
        return Some(END.to_owned());
    }
    let told: Vec<Cow<'_, str>> = line.changes?.iter().map(label).collect();
    Some(format!("journal: {}", told.join(", ")))
}

/// A call of a provider, on the way there or on the way back.
pub(crate) fn of_call(before: bool, method: &str, name: &str) -> String {
    format!("{} {method} of {name}", if before { "before" } else { "after" })
}

/// The checkpoint is about to be written.
pub(crate) const CHECKPOINT: &str = "checkpoint write";
/// The seal is about to be written.
pub(crate) const SEAL: &str = "seal write";
/// The journal is about to be given up.
pub(crate) const REMOVAL: &str = "removal of the journal";
/// The last line of a journal.
const END: &str = "journal: end";

/// The labels of a step's call, in their order: what is recorded before it, the call, what is recorded after it. `set`:
/// the resource of the old object changes as well.
fn of_step(kind: &str, method: &str, name: &str, set: bool) -> [String; 4] {
    let recorded = match (method, set) {
        ("delete", _) => "journal: done, remove".to_owned(),
        (_, false) => format!("journal: done, put {name}"),
        (_, true) => format!("journal: done, put {name}, set {name}"),
    };
    [format!("journal: {kind} {name}"), of_call(true, method, name), of_call(false, method, name), recorded]
}

/// The labels that an `up` passes for what a plan does to one resource.
pub(crate) fn of_action(action: &str, name: &str) -> Vec<String> {
    match action {
        "create" => of_step("creating", "create", name, false).into(),
        "update" => of_step("updating", "update", name, false).into(),
        "delete" => of_step("deleting", "delete", name, false).into(),
        "replace" => {
            let mut labels: Vec<String> = of_step("creating", "create", name, true).into();
            labels.extend(of_step("deleting", "delete", name, false));
            labels
        }
        _ => Vec::new(),
    }
}

/// The labels of the end of an `up` that has done something: the journal is folded into the state.
pub(crate) const OF_THE_END: [&str; 5] = [END, SEAL, CHECKPOINT, SEAL, REMOVAL];

/// Numbers of resources are left out: they depend on the turns that resources take.
fn label(change: &Change<'_>) -> Cow<'static, str> {
    match change {
        Change::Begin(begun) => format!("{} {}", begun.kind.as_deref().unwrap_or("beginning"), begun.name()).into(),
        Change::End(_) => "done".into(),
        Change::Put(put) => format!("put {}", put.name()).into(),
        Change::Set(set) => format!("set {}", set.name()).into(),
        Change::Remove(_) => "remove".into(),
        Change::UnresolvedCreate(_) => "suspect".into(),
        Change::Cleared(_) => "cleared".into(),
    }
}

#[cfg(test)]
#[path = "labels_tests.rs"]
mod tests;
