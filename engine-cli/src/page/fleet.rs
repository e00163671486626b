//! The page of a fleet's run: many stacks, from the document that the fleet makes of its run.

use std::collections::BTreeMap;

use maloko_fleet::Counts;
use serde::{Deserialize, Serialize};

use super::html;
use super::run_data::FORMAT;

/// The page (HTML) of a fleet's run, from its document (JSON): `page/src/fleet/data.ts` says what it has. What that does not name is
/// left out, such as the outputs of stacks.
///
/// # Errors
///
/// When the text is no such document.
pub fn page_of_fleet(document: &str) -> maloko_core::error::Result<String> {
    let refused = |why: String| {
        maloko_core::Error::Configuration(
            format!("the page of a fleet's run cannot be made of this document: {why}").into(),
        )
    };
    let run = serde_json::from_str(document).map_err(|error| refused(error.to_string()))?;
    let written = jiff::Timestamp::now().to_string();
    let page = FleetPage { page: "fleet", format: FORMAT, maloko: env!("CARGO_PKG_VERSION"), written, run };
    html::render(&page).map_err(|failure| refused(failure.to_string()))
}

/// What the page reads.
#[derive(Serialize)]
struct FleetPage {
    /// Tells it from the page of a stack.
    page: &'static str,
    format: u32,
    maloko: &'static str,
    written: String,
    #[serde(flatten)]
    run: FleetRun,
}

/// The document.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct FleetRun {
    run: String,
    fleet: String,
    verb: String,
    state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<RunOutcome>,
    #[serde(default, skip_serializing_if = "is_empty")]
    stopped: Option<String>,
    began: f64,
    seconds: f64,
    wave: u32,
    waves: u32,
    counts: Counts,
    stacks: Vec<FleetStack>,
    ends: Vec<StackEnd>,
    at_work: Vec<AtWork>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Running,
    Paused,
    Stopping,
    Ended,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RunOutcome {
    Done,
    Failed,
    Cancelled,
}

#[derive(Serialize, Deserialize)]
struct FleetStack {
    id: String,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    needs: Vec<String>,
    #[serde(default)]
    wave: u32,
    #[serde(default, skip_serializing_if = "is_empty")]
    queue: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StackOutcome {
    Done,
    Unchanged,
    Failed,
    Skipped,
    Cancelled,
}

#[derive(Serialize, Deserialize)]
struct StackEnd {
    id: String,
    outcome: StackOutcome,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    changes: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "is_empty")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "is_empty")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "is_empty")]
    urn: Option<String>,
    #[serde(default, skip_serializing_if = "is_empty")]
    method: Option<String>,
    /// The stack that its program asked for, and that is not there.
    #[serde(default, skip_serializing_if = "is_empty")]
    needs: Option<String>,
    #[serde(default)]
    attempts: u64,
    #[serde(default)]
    seconds: f64,
    #[serde(default, skip_serializing_if = "is_empty")]
    worker: Option<String>,
}

/// A stack that is being worked on, or waits for its next attempt.
#[derive(Serialize, Deserialize)]
struct AtWork {
    id: String,
    #[serde(default, skip_serializing_if = "is_empty")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "is_empty")]
    worker: Option<String>,
    #[serde(default)]
    attempt: u64,
    #[serde(default, skip_serializing_if = "is_empty")]
    note: Option<String>,
    /// Does it wait for its next attempt?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    retrying: bool,
}

/// `null`, the empty text and nothing at all are the same.
#[expect(clippy::ref_option, reason = "serde gives a reference to the member")]
fn is_empty(text: &Option<String>) -> bool {
    text.as_deref().is_none_or(str::is_empty)
}

#[cfg(test)]
#[path = "fleet_tests.rs"]
mod tests;
