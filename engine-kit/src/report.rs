//! The outcome of an operation, as data.

use maloko_core::provider::HostError;
use serde::Serialize;
use serde_json::Value as Json;

use crate::calls::Call;
use crate::fault_points::{Interruption, Point};
use crate::plan::Entry;
use crate::step_log::Message;
use crate::step_log::policies::{Remediation, Violation};

/// The outcome of an operation.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// `succeeded`, `failed`, `cancelled` or `crashed`.
    pub outcome: &'static str,
    /// The first error in words; `None` when nothing failed.
    pub error: Option<String>,
    /// The first error that the host raised, as the object that it raised.
    #[serde(skip)]
    pub source: Option<HostError>,
    /// Was it a preview?
    pub preview: bool,
    /// One entry for each resource, in the order of their first steps; unchanged ones too.
    pub plan: Vec<Entry>,
    /// Resources by op.
    pub changes: std::collections::BTreeMap<&'static str, u64>,
    /// Op and URN of each step that was done, the stack's own too.
    pub steps: Vec<(&'static str, String)>,
    /// What policies found.
    pub violations: Vec<Violation>,
    /// What they rewrote.
    pub remediations: Vec<Remediation>,
    /// Which mandatory policies failed it, in words; `None` when none did.
    pub refusal: Option<String>,
    /// What was said.
    pub diagnostics: Vec<Message>,
    /// What providers were asked.
    pub calls: Vec<Call>,
    /// The stack's outputs, with secrets in plain text.
    pub outputs: Json,
    /// The paths of those that are secret.
    pub secret_outputs: Vec<String>,
    /// Every point that the run has passed.
    pub points: Vec<Point>,
    /// Where a crash of the order's struck; `None` when it did not.
    pub struck: Option<InjectedCrash>,
    /// What was recorded of the run for its page; `None` where nobody did, or where it is too much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The time that the operation took by its own clock, in seconds.
    pub seconds: f64,
}

/// A crash that happened.
#[derive(Clone, Debug, Serialize)]
pub struct InjectedCrash {
    /// Where.
    pub point: Point,
    /// How.
    pub kind: Interruption,
}

#[cfg(test)]
impl Report {
    /// An operation that succeeded, and whose plan this is.
    pub(crate) fn for_tests(plan: Vec<Entry>) -> Self {
        Self {
            outcome: "succeeded",
            error: None,
            source: None,
            preview: true,
            plan,
            changes: std::collections::BTreeMap::new(),
            steps: Vec::new(),
            violations: Vec::new(),
            remediations: Vec::new(),
            refusal: None,
            diagnostics: Vec::new(),
            calls: Vec::new(),
            outputs: Json::Object(serde_json::Map::new()),
            secret_outputs: Vec::new(),
            points: Vec::new(),
            struck: None,
            page: None,
            seconds: 0.0,
        }
    }
}
