//! What a list of stacks shows of a checkpoint: small enough to stand beside it, so that a list of thousands reads none.

use std::fmt;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};

/// What stands for the time of a state that nothing was done to.
const NEVER: &str = "never";
/// How a time begins that is none, as Go writes it.
const NO_TIME: &str = "0001-";
/// The versions of a stack file that are summed up; others have to be read.
const VERSIONS: std::ops::RangeInclusive<u64> = 3..=4;

/// A checkpoint in short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many resources there are, those that wait for their deletion included.
    pub resources: u64,
    /// When the state was last written; `None` when nothing was done to the stack yet.
    pub updated: Option<Timestamp>,
}

impl Summary {
    /// Sums up a stack file; `None` where it has to be read to be judged: a mark in its place, damage, another version.
    #[must_use]
    pub fn of(checkpoint: &[u8]) -> Option<Self> {
        let document: Document = serde_json::from_slice(checkpoint).ok()?;
        if !VERSIONS.contains(&document.version) {
            return None;
        }
        let Some(latest) = document.checkpoint.latest else { return Some(Self { resources: 0, updated: None }) };
        let time = latest.manifest.and_then(|manifest| manifest.time).filter(|time| !time.starts_with(NO_TIME));
        // What is no time is shown as it stands there.
        let updated = time.map(|time| time.parse()).transpose().ok()?;
        Some(Self { resources: latest.resources.map_or(0, |Count(count)| count), updated })
    }

    /// The summary in letters, digits and dashes, as [`Display`](fmt::Display) writes it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (resources, updated) = text.split_once('-')?;
        let updated = match updated {
            NEVER => None,
            nanoseconds => Some(Timestamp::from_nanosecond(nanoseconds.parse().ok()?).ok()?),
        };
        Some(Self { resources: resources.parse().ok()?, updated })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.updated {
            Some(updated) => write!(f, "{}-{}", self.resources, updated.as_nanosecond()),
            None => write!(f, "{}-{NEVER}", self.resources),
        }
    }
}

#[derive(Deserialize)]
struct Document {
    version: u64,
    checkpoint: Body,
}

#[derive(Deserialize)]
struct Body {
    latest: Option<Latest>,
}

#[derive(Deserialize)]
struct Latest {
    manifest: Option<Manifest>,
    resources: Option<Count>,
}

#[derive(Deserialize)]
struct Manifest {
    time: Option<String>,
}

/// The number of a list's entries.
struct Count(u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Counting)
    }
}

struct Counting;

impl<'de> Visitor<'de> for Counting {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Count, A::Error> {
        let mut count = 0;
        while entries.next_element::<IgnoredAny>()?.is_some() {
            count += 1;
        }
        Ok(Count(count))
    }
}

#[cfg(test)]
#[path = "summary_tests.rs"]
mod tests;
