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
    #[serde(borrow)]
    row: NamedResource<'a>,
}

#[derive(Deserialize)]
struct NamedResource<'a> {
    #[serde(borrow)]
    urn: Cow<'a, str>,
}

impl Content<'_> {
    fn name(&self) -> &str {
        self.row.urn.rsplit("::").next().unwrap_or_default()
    }
}

/// The label of a line; `None` for the first one, which records nothing.
pub(crate) fn of_line(line: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(line).ok()?;
    let line: Line<'_> = serde_json::from_str(text.split_once(' ')?.1).ok()?;
    if line.fold.is_some() {
        return Some("journal: end".to_owned());
    }
    let told: Vec<Cow<'_, str>> = line.changes?.iter().map(label).collect();
    Some(format!("journal: {}", told.join(", ")))
}

/// Numbers of rows are left out: they depend on the turns that resources take.
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
