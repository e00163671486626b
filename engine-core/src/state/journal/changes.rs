//! Changes of the ledger as they stand in a record.

use serde::Deserialize;

use crate::error::Result;
use crate::urn::Urn;

use crate::state::format::{Encoder, StoredResource, StoredUnresolvedCreate, write_string};
use crate::state::ledger::{Change, ResourceNumber};
use crate::state::pending_operation::{PendingKind, PendingOperation};
use crate::state::unresolved_create::Attempt;

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ChangeLine {
    Begin {
        operation: u32,
        kind: String,
        /// Of a create, since format 2.
        #[serde(default)]
        key: Option<String>,
        #[serde(default)]
        since: String,
        #[serde(rename = "row")]
        resource: StoredResource,
    },
    End(u32),
    Put {
        number: ResourceNumber,
        #[serde(rename = "row")]
        resource: StoredResource,
        #[serde(default)]
        in_place_of: Option<ResourceNumber>,
    },
    Set {
        number: ResourceNumber,
        #[serde(rename = "row")]
        resource: StoredResource,
    },
    Remove(ResourceNumber),
    /// Since format 2.
    #[serde(rename = "suspect")]
    UnresolvedCreate(StoredUnresolvedCreate),
    /// Since format 2.
    Cleared(String),
}

impl ChangeLine {
    pub(super) fn into_change(self) -> Option<Change> {
        Some(match self {
            Self::Begin { operation, kind, key, since, resource } => {
                let pending = PendingOperation { resource: resource.0.into(), kind: PendingKind::from_name(&kind)? };
                Change::Begin { operation, pending, attempt: key.map(|key| Attempt { key, since }) }
            }
            Self::End(operation) => Change::End { operation },
            Self::Put { number, resource, in_place_of } => {
                Change::Put { number, resource: resource.0.into(), in_place_of }
            }
            Self::Set { number, resource } => Change::Set { number, resource: resource.0.into() },
            Self::Remove(number) => Change::Remove { number },
            Self::UnresolvedCreate(StoredUnresolvedCreate(unresolved)) => Change::UnresolvedCreate(unresolved.into()),
            Self::Cleared(urn) => Change::Cleared(Urn::unchecked(&urn)),
        })
    }
}

/// The content of a record of changes.
pub(in crate::state) fn encode_changes(changes: &[Change], encoder: &mut Encoder<'_>) -> Result<()> {
    encoder.out().extend_from_slice(b"\"changes\":[");
    for (index, change) in changes.iter().enumerate() {
        if index > 0 {
            encoder.out().push(b',');
        }
        encode_change(change, encoder)?;
    }
    encoder.out().push(b']');
    Ok(())
}

fn encode_change(change: &Change, encoder: &mut Encoder<'_>) -> Result<()> {
    let resource = match change {
        Change::Begin { operation, pending, attempt } => {
            let kind = pending.kind.name();
            put(encoder, &format!("{{\"begin\":{{\"operation\":{operation},\"kind\":\"{kind}\""));
            if let Some(Attempt { key, since }) = attempt {
                put(encoder, ",\"key\":");
                write_string(encoder.out(), key);
                put(encoder, ",\"since\":");
                write_string(encoder.out(), since);
            }
            &pending.resource
        }
        Change::End { operation } => {
            put(encoder, &format!("{{\"end\":{operation}}}"));
            return Ok(());
        }
        Change::Put { number, resource, in_place_of: None } => {
            put(encoder, &format!("{{\"put\":{{\"number\":{number}"));
            resource
        }
        Change::Put { number, resource, in_place_of: Some(old) } => {
            put(encoder, &format!("{{\"put\":{{\"number\":{number},\"in_place_of\":{old}"));
            resource
        }
        Change::Set { number, resource } => {
            put(encoder, &format!("{{\"set\":{{\"number\":{number}"));
            resource
        }
        Change::Remove { number } => {
            put(encoder, &format!("{{\"remove\":{number}}}"));
            return Ok(());
        }
        Change::UnresolvedCreate(unresolved) => {
            put(encoder, "{\"suspect\":");
            encoder.unresolved(unresolved)?;
            put(encoder, "}");
            return Ok(());
        }
        Change::Cleared(urn) => {
            put(encoder, "{\"cleared\":");
            write_string(encoder.out(), urn.as_str());
            put(encoder, "}");
            return Ok(());
        }
    };
    put(encoder, ",\"row\":");
    encoder.resource_state(resource)?;
    put(encoder, "}}");
    Ok(())
}

fn put(encoder: &mut Encoder<'_>, text: &str) {
    encoder.out().extend_from_slice(text.as_bytes());
}

/// The content of the last record of a journal that was compacted.
pub(in crate::state) fn encode_compaction(checkpoint_hash: &str) -> Vec<u8> {
    format!("\"fold\":\"{checkpoint_hash}\"").into_bytes()
}
