//! What an edit makes of a resource's inputs. Drawn on their own, two inputs differ in everything, their names as well; an edit
//! that changes a name replaces the resource as a rule, and `update` is never seen.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::laws::first_difference;

/// How much an edit changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Extent {
    /// One property.
    One,
    /// Some of them.
    Some,
    /// Any one, a name too.
    Any,
    /// All.
    All,
}

/// How often each extent is to be drawn.
pub(crate) const EXTENTS: [(Extent, u32); 4] =
    [(Extent::One, 6), (Extent::Some, 2), (Extent::Any, 1), (Extent::All, 2)];

/// The largest number that says which properties change.
pub(crate) const MAX_PICK: u64 = 65_535;

/// An edit as it was drawn: what it makes depends on what there is.
#[derive(Debug, Deserialize)]
pub(crate) struct Edit {
    /// The inputs that the resource has.
    pub now: Map<String, Json>,
    /// The inputs that were drawn.
    pub drawn: Map<String, Json>,
    /// How much changes.
    pub extent: Extent,
    /// Which properties it is that change.
    pub pick: u64,
    /// Properties that say which object is meant, beside those whose names say so.
    #[serde(default)]
    pub unique: Vec<String>,
}

impl Edit {
    /// The properties that the drawn inputs are asked for, sorted: of the others, the resource keeps what it has.
    pub(crate) fn taken(&self) -> Vec<String> {
        let keys = differing(&self.now, &self.drawn);
        if self.extent == Extent::All || keys.len() < 2 {
            return keys;
        }
        let others: Vec<String> = keys.iter().filter(|key| !self.is_name(key)).cloned().collect();
        let changing = if self.extent == Extent::Any || others.is_empty() { keys } else { others };
        if self.extent != Extent::Some {
            let at = nth(self.pick, changing.len());
            return changing.into_iter().skip(at).take(1).collect();
        }
        let picked = |at: usize| u32::try_from(at).ok().and_then(|at| self.pick.checked_shr(at)).unwrap_or(0) & 1 == 1;
        let some: Vec<String> =
            changing.iter().enumerate().filter(|(at, _)| picked(*at)).map(|(_, key)| key.clone()).collect();
        if some.is_empty() { changing } else { some }
    }

    /// The same of examples that an author wrote down, which are taken whole: the number of the example, `None` for what was
    /// drawn. Those come first that keep the names and change little.
    pub(crate) fn nearest(&self, examples: &[Map<String, Json>]) -> Option<usize> {
        if matches!(self.extent, Extent::Any | Extent::All) {
            return None;
        }
        let others = examples.iter().enumerate().map(|(number, it)| (number, differing(&self.now, it)));
        let others: Vec<(usize, Vec<String>)> = others.filter(|(_, keys)| !keys.is_empty()).collect();
        // One property: the nearest; some of them: any that keeps the names, or most of them.
        let distance = |keys: &[String]| {
            let names = keys.iter().filter(|key| self.is_name(key)).count();
            (names, if self.extent == Extent::One { keys.len() } else { 0 })
        };
        let least = others.iter().map(|(_, keys)| distance(keys)).min()?;
        let near: Vec<usize> =
            others.iter().filter(|(_, keys)| distance(keys) == least).map(|(number, _)| *number).collect();
        near.get(nth(self.pick, near.len())).copied()
    }

    fn is_name(&self, key: &str) -> bool {
        is_name(key) || self.unique.iter().any(|it| it == key)
    }
}

/// Does a property of this name say which object is meant? `name`, `bucketName`, `user_name`, `hostname`; `id`, `parentId`,
/// `parent_id`; `key`, `slug`.
fn is_name(key: &str) -> bool {
    let camel =
        |end: &str| key.strip_suffix(end).is_some_and(|rest| rest.ends_with(|it: char| it.is_ascii_lowercase()));
    ["key", "slug", "id"].contains(&key) || ["name", "Name", "_id"].iter().any(|end| key.ends_with(end)) || camel("Id")
}

fn nth(pick: u64, count: usize) -> usize {
    usize::try_from(pick).unwrap_or_default() % count.max(1)
}

fn differing(one: &Map<String, Json>, other: &Map<String, Json>) -> Vec<String> {
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let differ = |key: &&&String| match (one.get(key.as_str()), other.get(key.as_str())) {
        (Some(one), Some(other)) => first_difference(one, other).is_some(),
        _ => true,
    };
    keys.iter().filter(differ).map(|key| (*key).clone()).collect()
}

#[cfg(test)]
#[path = "edits_tests.rs"]
mod tests;
