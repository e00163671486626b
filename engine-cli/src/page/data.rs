//! What a page shows, as the page reads it: `page/src/data.ts` says what each member means.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// Properties whose secrets are hidden.
pub(crate) type Properties = Map<String, Json>;

/// The whole document.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct PageData {
    pub(crate) format: u32,
    pub(crate) maloko: String,
    pub(crate) written: String,
    pub(crate) project: String,
    pub(crate) stack: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) secrets_provider: String,
    pub(crate) resources: Vec<Resource>,
    pub(crate) outputs: Properties,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) comparison: Option<Comparison>,
    pub(crate) history: Vec<HistoryItem>,
    pub(crate) unresolved_creates: Vec<UnresolvedCreate>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Resource {
    pub(crate) urn: String,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    pub(crate) custom: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) dependencies: Vec<Dependency>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deleted_with: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) replace_with: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provider: Option<usize>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) provider_class: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) inputs: Properties,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) outputs: Properties,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) options: Vec<(String, String)>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) source: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) created: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) modified: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) gone: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) marks: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) init_errors: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) operations: Vec<PastOperation>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) on: usize,
    pub(crate) properties: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PastOperation {
    pub(crate) version: u64,
    pub(crate) op: String,
    pub(crate) at: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) failed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) keys: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<Change>,
}

/// Times are milliseconds since the run began.
#[expect(clippy::struct_field_names, reason = "it is `dryRun` in the page's contract, as everywhere else")]
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Run {
    pub(crate) kind: String,
    pub(crate) dry_run: bool,
    /// Of a run of the past: its number in the history.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<u64>,
    pub(crate) outcome: String,
    pub(crate) began: String,
    pub(crate) duration: f64,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) message: String,
    pub(crate) changes: BTreeMap<String, u64>,
    pub(crate) steps: Vec<Step>,
    pub(crate) activities: Vec<Activity>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) critical_path: Vec<PathItem>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) plan: Vec<PlannedStep>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Step {
    pub(crate) resource: usize,
    pub(crate) op: String,
    pub(crate) status: String,
    pub(crate) began: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) keys: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<Change>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) because: Option<Cause>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) note: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Cause {
    pub(crate) resource: usize,
    pub(crate) kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) property: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Change {
    pub(crate) path: String,
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) replace: bool,
    #[serde(skip_serializing_if = "Option::is_none", with = "serde_with_null")]
    pub(crate) old: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none", with = "serde_with_null")]
    pub(crate) new: Option<Json>,
}

/// A member that may be `null`, which is another thing than absent.
mod serde_with_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::Value as Json;

    #[expect(clippy::ref_option, reason = "serde calls it with a reference")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Json>, serializer: S) -> Result<S::Ok, S::Error> {
        value.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
        Json::deserialize(deserializer).map(Some)
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Activity {
    pub(crate) kind: String,
    pub(crate) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource: Option<usize>,
    pub(crate) began: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) error: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) traceback: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PathItem {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) activity: Option<usize>,
    pub(crate) began: f64,
    pub(crate) duration: f64,
    pub(crate) text: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PlannedStep {
    pub(crate) resource: usize,
    pub(crate) op: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Diagnostic {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource: Option<usize>,
    pub(crate) severity: String,
    pub(crate) message: String,
    pub(crate) at: f64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Comparison {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) steps: Vec<Step>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HistoryItem {
    pub(crate) version: u64,
    pub(crate) kind: String,
    pub(crate) result: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) message: String,
    pub(crate) began: String,
    pub(crate) duration: f64,
    pub(crate) changes: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) environment: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct UnresolvedCreate {
    pub(crate) urn: String,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(crate) inputs: Properties,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) since: String,
}
