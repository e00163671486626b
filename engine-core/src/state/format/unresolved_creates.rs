//! Records of unresolved creates, to JSON and back. They lie beside the resources, in a member of their own, which other
//! tools pass over.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use crate::error::Result;
use crate::state::unresolved_create::{UnknownOutcome, UnresolvedCreate};
use crate::value::Value;

use super::decode_resource::StoredResource;
use super::decode_value::StateValue;
use super::encode_value::Encoder;
use super::json::{write_json, write_string};

impl Encoder<'_> {
    /// Writes one record.
    pub(crate) fn unresolved(&mut self, unresolved: &UnresolvedCreate) -> Result<()> {
        self.raw("{\"key\":");
        write_string(self.out(), &unresolved.key);
        for (name, text) in
            [("doubt", unresolved.unknown_outcome.name()), ("since", &unresolved.since), ("error", &unresolved.error)]
        {
            if !text.is_empty() {
                self.raw(&format!(",\"{name}\":"));
                write_string(self.out(), text);
            }
        }
        self.raw(&format!(",\"attempts\":{}", unresolved.attempts));
        if unresolved.returned != Value::Null {
            self.raw(",\"returned\":");
            self.value(&unresolved.returned)?;
        }
        for (name, value) in &unresolved.unknown_members {
            self.raw(",");
            write_string(self.out(), name);
            self.raw(":");
            write_json(self.out(), value)?;
        }
        self.raw(",\"resource\":");
        self.resource_state(&unresolved.resource)?;
        self.raw("}");
        Ok(())
    }
}

/// A record as it stands in a state or a journal.
pub(crate) struct StoredUnresolvedCreate(pub(crate) UnresolvedCreate);

impl<'de> Deserialize<'de> for StoredUnresolvedCreate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(UnresolvedCreateVisitor).map(StoredUnresolvedCreate)
    }
}

struct UnresolvedCreateVisitor;

impl<'de> Visitor<'de> for UnresolvedCreateVisitor {
    type Value = UnresolvedCreate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the record of an unresolved create")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<UnresolvedCreate, A::Error> {
        let mut unresolved = UnresolvedCreate::of_pending(&Arc::default());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "key" => unresolved.key = map.next_value()?,
                "doubt" => unresolved.unknown_outcome = UnknownOutcome::from_name(&map.next_value::<String>()?),
                "since" => unresolved.since = map.next_value()?,
                "error" => unresolved.error = map.next_value()?,
                "attempts" => unresolved.attempts = map.next_value()?,
                "returned" => unresolved.returned = map.next_value::<StateValue>()?.0,
                "resource" => unresolved.resource = Arc::new(map.next_value::<StoredResource>()?.0),
                _ => drop(unresolved.unknown_members.insert(key, map.next_value()?)),
            }
        }
        if unresolved.resource.urn.as_str().is_empty() {
            return Err(de::Error::custom("the record of an unresolved create has no 'resource'"));
        }
        Ok(unresolved)
    }
}
