//! The objects around the resources, read member by member without building a tree of them.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Map;

use crate::resource_state::ResourceState;

use crate::state::format::{StoredResource, StoredUnresolvedCreate};
use crate::state::pending_operation::{PendingKind, PendingOperation};
use crate::state::snapshot::Snapshot;

/// The member of a deployment that lists unresolved creates. Other tools pass over it.
pub(super) const SUSPECTS_KEY: &str = "maloko_suspects";

/// A stack file or an exported deployment; `S` is what is read of its content.
#[derive(Default)]
pub(super) struct Document<S = Snapshot> {
    pub(super) version: Option<u64>,
    pub(super) features: Vec<String>,
    pub(super) checkpoint: Option<CheckpointBody<S>>,
    pub(super) deployment: Option<S>,
    pub(super) members: Map<String, serde_json::Value>,
}

/// `checkpoint` of a stack file.
#[derive(Default)]
pub(super) struct CheckpointBody<S> {
    pub(super) stack: String,
    pub(super) latest: Option<S>,
    pub(super) members: Map<String, serde_json::Value>,
}

#[derive(Default)]
struct Pending {
    resource: ResourceState,
    kind: Option<PendingKind>,
}

impl Document {
    /// Version and features of a document whose content may be of any shape.
    pub(super) fn version_only(bytes: &[u8]) -> (Option<u64>, Vec<String>) {
        #[derive(serde::Deserialize)]
        struct Head {
            version: u64,
            #[serde(default)]
            features: Vec<String>,
        }
        serde_json::from_slice::<Head>(bytes).map_or((None, Vec::new()), |head| (Some(head.version), head.features))
    }
}

/// An object that is read one member at a time.
pub(super) trait Members<'de>: Default {
    /// What the object is, for errors.
    const WHAT: &'static str;

    /// Takes the value of one member out of `map`.
    fn read<A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error>;
}

struct MembersVisitor<T>(PhantomData<T>);

impl<'de, T: Members<'de>> Visitor<'de> for MembersVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::WHAT)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut object = T::default();
        while let Some(key) = map.next_key()? {
            object.read(key, &mut map)?;
        }
        Ok(object)
    }
}

pub(super) fn read_object<'de, T: Members<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(MembersVisitor(PhantomData))
}

impl<'de, S: Default + Deserialize<'de>> Members<'de> for Document<S> {
    const WHAT: &'static str = "an object with 'version' and 'checkpoint' or 'deployment'";

    fn read<A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
        match key.as_str() {
            "version" => self.version = Some(map.next_value()?),
            "features" => self.features = map.next_value::<Option<_>>()?.unwrap_or_default(),
            "checkpoint" => self.checkpoint = map.next_value()?,
            "deployment" => self.deployment = map.next_value()?,
            _ => {
                self.members.insert(key, map.next_value()?);
            }
        }
        Ok(())
    }
}

impl<'de, S: Default + Deserialize<'de>> Members<'de> for CheckpointBody<S> {
    const WHAT: &'static str = "the object 'checkpoint'";

    fn read<A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
        match key.as_str() {
            "stack" => self.stack = map.next_value()?,
            "latest" => self.latest = map.next_value()?,
            _ => {
                self.members.insert(key, map.next_value()?);
            }
        }
        Ok(())
    }
}

impl<'de> Members<'de> for Snapshot {
    const WHAT: &'static str = "a deployment";

    fn read<A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
        match key.as_str() {
            "resources" => {
                let resources: Vec<SharedResource> = map.next_value::<Option<_>>()?.unwrap_or_default();
                self.resources = resources.into_iter().map(|resource| resource.0).collect();
            }
            "pending_operations" => {
                let pending: Vec<Pending> = map.next_value::<Option<_>>()?.unwrap_or_default();
                for Pending { resource, kind } in pending {
                    let kind = kind.ok_or_else(|| de::Error::custom("an entry of pending_operations has no 'type'"))?;
                    self.pending.push(PendingOperation { resource: Arc::new(resource), kind });
                }
            }
            SUSPECTS_KEY => {
                let unresolved_creates: Vec<StoredUnresolvedCreate> =
                    map.next_value::<Option<_>>()?.unwrap_or_default();
                self.unresolved_creates =
                    unresolved_creates.into_iter().map(|unresolved| Arc::new(unresolved.0)).collect();
            }
            "secrets_providers" => self.secrets_provider = map.next_value()?,
            _ => {
                self.other.insert(key, map.next_value()?);
            }
        }
        Ok(())
    }
}

impl<'de> Members<'de> for Pending {
    const WHAT: &'static str = "an entry of 'pending_operations'";

    fn read<A: MapAccess<'de>>(&mut self, key: String, map: &mut A) -> Result<(), A::Error> {
        match key.as_str() {
            "resource" => self.resource = map.next_value::<StoredResource>()?.0,
            "type" => {
                let name: String = map.next_value()?;
                let kind = PendingKind::from_name(&name)
                    .ok_or_else(|| de::Error::custom(format!("'{name}' is not a kind of pending operation")))?;
                self.kind = Some(kind);
            }
            // Known tools write nothing else here.
            _ => drop(map.next_value::<de::IgnoredAny>()?),
        }
        Ok(())
    }
}

impl<'de, S: Default + Deserialize<'de>> Deserialize<'de> for Document<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

impl<'de, S: Default + Deserialize<'de>> Deserialize<'de> for CheckpointBody<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

impl<'de> Deserialize<'de> for Pending {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_object(deserializer)
    }
}

/// A resource behind its pointer from the start: resources are large, and a list of them is not moved while it grows.
struct SharedResource(Arc<ResourceState>);

impl<'de> Deserialize<'de> for SharedResource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StoredResource::deserialize(deserializer).map(|resource| Self(Arc::new(resource.0)))
    }
}
