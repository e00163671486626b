//! A long document, read on two threads: first where each resource begins and ends, then one half of them beside the other.

use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, MapAccess};
use serde_json::value::RawValue;

use crate::environment::side_by_side::{LONG_TEXT, side_by_side};
use crate::resource_state::ResourceState;

use super::document::{CheckpointBody, Document, Members, read_object};
use crate::state::format::StoredResource;
use crate::state::snapshot::Snapshot;

/// Reads a document.
///
/// # Errors
/// It is malformed; the place is the one in the whole text.
pub(super) fn read(bytes: &[u8]) -> serde_json::Result<Document> {
    if bytes.len() >= LONG_TEXT
        && let Ok(document) = serde_json::from_slice::<Document<Outline<'_>>>(bytes).and_then(complete)
    {
        return Ok(document);
    }
    // What is wrong with a long one is found a second time, in its place.
    serde_json::from_slice(bytes)
}

/// A snapshot whose resources are not read yet.
#[derive(Default)]
struct Outline<'a> {
    rest: Snapshot,
    resources: Vec<&'a RawValue>,
}

impl<'de> Members<'de> for Outline<'de> {
    const WHAT: &'static str = Snapshot::WHAT;

    fn read<A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
        if key != "resources" {
            return self.rest.read(key, map);
        }
        self.resources = map.next_value::<Option<_>>()?.unwrap_or_default();
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Outline<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

impl Outline<'_> {
    fn complete(self) -> serde_json::Result<Snapshot> {
        let (first, second) = self.resources.split_at(self.resources.len() / 2);
        let (first, second) = side_by_side(true, || resources(first), || resources(second));
        let mut resources = first?;
        resources.extend(second?);
        Ok(Snapshot { resources, ..self.rest })
    }
}

fn resources(texts: &[&RawValue]) -> serde_json::Result<Vec<Arc<ResourceState>>> {
    let read =
        |text: &&RawValue| serde_json::from_str::<StoredResource>(text.get()).map(|resource| Arc::new(resource.0));
    texts.iter().map(read).collect()
}

fn complete(document: Document<Outline<'_>>) -> serde_json::Result<Document> {
    let Document { version, features, checkpoint, deployment, members } = document;
    let checkpoint = checkpoint.map(|body| {
        let CheckpointBody { stack, latest, members } = body;
        latest.map(Outline::complete).transpose().map(|latest| CheckpointBody { stack, latest, members })
    });
    Ok(Document {
        version,
        features,
        checkpoint: checkpoint.transpose()?,
        deployment: deployment.map(Outline::complete).transpose()?,
        members,
    })
}

#[cfg(test)]
#[path = "outline_tests.rs"]
mod tests;
