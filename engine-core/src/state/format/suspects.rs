//! Records of suspect creates, to JSON and back. They lie beside the resources, in a member of their own, which other
//! tools pass over.

use std::fmt;
use std::sync::Arc;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use crate::error::Result;
use crate::state::suspect::{Doubt, Suspect};
use crate::value::Value;

use super::decode_row::StateRow;
use super::decode_value::StateValue;
use super::encode_value::Encoder;
use super::json::{write_json, write_string};

impl Encoder<'_> {
    /// Writes one record.
    pub(crate) fn suspect(&mut self, suspect: &Suspect) -> Result<()> {
        self.raw("{\"key\":");
        write_string(self.out(), &suspect.key);
        for (name, text) in [("doubt", suspect.doubt.name()), ("since", &suspect.since), ("error", &suspect.error)] {
            if !text.is_empty() {
                self.raw(&format!(",\"{name}\":"));
                write_string(self.out(), text);
            }
        }
        self.raw(&format!(",\"attempts\":{}", suspect.attempts));
        if suspect.returned != Value::Null {
            self.raw(",\"returned\":");
            self.value(&suspect.returned)?;
        }
        for (name, value) in &suspect.unknown_members {
            self.raw(",");
            write_string(self.out(), name);
            self.raw(":");
            write_json(self.out(), value)?;
        }
        self.raw(",\"resource\":");
        self.row(&suspect.row)?;
        self.raw("}");
        Ok(())
    }
}

/// A record as it stands in a state or a journal.
pub(crate) struct StateSuspect(pub(crate) Suspect);

impl<'de> Deserialize<'de> for StateSuspect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_map(SuspectVisitor).map(StateSuspect)
    }
}

struct SuspectVisitor;

impl<'de> Visitor<'de> for SuspectVisitor {
    type Value = Suspect;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the record of a suspect create")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Suspect, A::Error> {
        let mut suspect = Suspect::of_pending(&Arc::default());
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "key" => suspect.key = map.next_value()?,
                "doubt" => suspect.doubt = Doubt::from_name(&map.next_value::<String>()?),
                "since" => suspect.since = map.next_value()?,
                "error" => suspect.error = map.next_value()?,
                "attempts" => suspect.attempts = map.next_value()?,
                "returned" => suspect.returned = map.next_value::<StateValue>()?.0,
                "resource" => suspect.row = Arc::new(map.next_value::<StateRow>()?.0),
                _ => drop(suspect.unknown_members.insert(key, map.next_value()?)),
            }
        }
        if suspect.row.urn.as_str().is_empty() {
            return Err(de::Error::custom("the record of a suspect create has no 'resource'"));
        }
        Ok(suspect)
    }
}
