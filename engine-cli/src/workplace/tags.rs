//! The tags of stacks: names and values that a stack is found by. They stand beside the state, where Pulumi keeps them.

use std::collections::BTreeMap;

use maloko_core::state::StackName;
use serde::{Deserialize, Serialize};

use crate::failure::{Failure, Result};
use crate::workplace::Workplace;

/// The version of the form in which they are stored.
const VERSION: u64 = 1;

/// Tags as they are stored.
#[derive(Debug, Default, Serialize, Deserialize)]
struct TagsFile {
    version: u64,
    #[serde(default)]
    tags: BTreeMap<String, String>,
}

/// The tags of a stack.
pub(crate) async fn read(workplace: &Workplace<'_>, stack: &StackName) -> Result<BTreeMap<String, String>> {
    let stored = workplace.backend.tags(stack).await.map_err(|error| workplace.explain(error, stack))?;
    decode(workplace, stack, stored.as_deref())
}

/// The tags of a stack, of which this is stored.
pub(crate) fn decode(
    workplace: &Workplace<'_>,
    stack: &StackName,
    stored: Option<&[u8]>,
) -> Result<BTreeMap<String, String>> {
    let Some(bytes) = stored else { return Ok(BTreeMap::new()) };
    let damaged = |why: String| {
        Failure::new(format!(
            "the tags of the stack '{}' in {} cannot be read: {why}; mend {}.pulumi-tags there, or remove it",
            workplace.shown(stack),
            workplace.backend.url(),
            stack.stack()
        ))
    };
    let stored: TagsFile = serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    match stored.version {
        VERSION => Ok(stored.tags),
        newer => Err(damaged(format!("their form {newer} is one of a newer version"))),
    }
}

/// Changes tags under the stack's lock: of two changes at once, neither undoes the other.
pub(crate) async fn change(
    workplace: &Workplace<'_>,
    stack: &StackName,
    change: impl FnOnce(&mut BTreeMap<String, String>),
) -> Result<()> {
    let explain = |error| workplace.explain(error, stack);
    let lease = workplace.backend.lease(stack, "maloko stack tag").await.map_err(explain)?;
    let changed = async {
        let mut tags = read(workplace, stack).await?;
        change(&mut tags);
        let stored = TagsFile { version: VERSION, tags };
        let bytes = serde_json::to_vec(&stored).map_err(|error| Failure::new(error.to_string()))?;
        lease.write_tags(&bytes).await.map_err(explain)
    }
    .await;
    // The reason why it failed is what the user needs to know.
    let released = lease.release().await.map_err(explain);
    changed.and(released)
}

/// Has the stack this tag (`NAME`), with this value (`NAME=VALUE`)?
pub(crate) fn has(tags: &BTreeMap<String, String>, wanted: &str) -> bool {
    match wanted.split_once('=') {
        Some((name, value)) => tags.get(name).is_some_and(|found| found == value),
        None => tags.contains_key(wanted),
    }
}
