//! What is kept of past operations (docs/rules 10.5), in Pulumi's JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::error::{Error, Result};

use super::backend::StoredEntry;

/// One past operation of a stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HistoryEntry {
    /// `update`, `refresh`, `destroy`, `import`, `rename`, ...
    pub kind: String,
    /// When it began, in seconds since 1970.
    pub start_time: i64,
    /// What the user wrote with `--message`.
    pub message: String,
    /// Where it was run from: `exec.kind`, `git.head` and the like.
    pub environment: BTreeMap<String, String>,
    /// The configuration: values, or `{secure: <ciphertext>}`.
    pub config: Map<String, Json>,
    /// The number of the operation among those of its stack; 0 when it was not numbered.
    #[serde(skip_serializing_if = "is_zero")]
    pub version: u64,
    /// `succeeded` or `failed`.
    pub result: String,
    /// When it ended, in seconds since 1970.
    pub end_time: i64,
    /// Counts of the steps by op name.
    pub resource_changes: BTreeMap<String, u64>,
    /// What the run's page shows, packed by the one who wrote it; without secrets. `None`: nothing of that is kept.
    #[serde(rename = "malokoRun", skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl HistoryEntry {
    /// The entry as it is stored.
    pub fn encode(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self)
            .map_err(|error| Error::BadState(format!("an entry of the history cannot be written: {error}").into()))
    }

    /// Reads a stored entry.
    pub fn decode(stored: &StoredEntry) -> Result<Self> {
        serde_json::from_slice(&stored.entry).map_err(|error| {
            Error::BadState(
                format!(
                    "{} is no entry of a history ({error}); remove the file, or restore it from a copy",
                    stored.place
                )
                .into(),
            )
        })
    }
}
