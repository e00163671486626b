//! Where a checkpoint differs from the one that was sealed, in words.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::digest::sha256_hex;

/// A part of a checkpoint: its name and the first digits of its SHA-256. The seal as a whole is authenticated; these
/// only serve to name what differs.
pub(in crate::state) type Part = (String, String);

/// Digits of a part's hash.
const DIGITS: usize = 16;
/// So many parts of a kind are named.
const NAMED: usize = 5;

/// The checkpoint's text, part by part.
#[derive(Default, PartialEq)]
struct Texts<'a> {
    /// Each resource by its URN, in order; pending operations follow.
    resources: Vec<(String, &'a str)>,
    /// All other members, by their path.
    parts: Vec<(String, &'a str)>,
}

type Members<'a> = BTreeMap<String, &'a RawValue>;

impl<'a> Texts<'a> {
    /// Of a file that is none of ours, what can be told apart.
    fn of(checkpoint: &'a [u8]) -> Self {
        let mut texts = Self::default();
        let Ok(file) = serde_json::from_slice::<Members<'a>>(checkpoint) else { return texts };
        let around = texts.members(&file, "", "checkpoint");
        let latest = texts.members(&around, "checkpoint.", "latest");
        for (name, value) in &latest {
            match name.as_str() {
                "resources" => texts.resources(value, |text| match urn_at_start(text) {
                    Some(urn) => Ok(urn.to_owned()),
                    None => serde_json::from_str::<Resource>(text).map(|it| it.urn),
                }),
                "pending_operations" => texts.resources(value, |text| {
                    serde_json::from_str::<Pending>(text).map(|pending| format!("pending {}", pending.resource.urn))
                }),
                _ => texts.parts.push((format!("checkpoint.latest.{name}"), value.get())),
            }
        }
        texts
    }

    /// Notes the members, all but `inner`, whose members it gives.
    fn members(&mut self, members: &Members<'a>, path: &str, inner: &str) -> Members<'a> {
        let mut found = Members::new();
        for (name, value) in members {
            match serde_json::from_str(value.get()) {
                Ok(members) if name == inner => found = members,
                _ => self.parts.push((format!("{path}{name}"), value.get())),
            }
        }
        found
    }

    fn resources(&mut self, list: &'a RawValue, name: impl Fn(&str) -> serde_json::Result<String>) {
        for resource in serde_json::from_str::<Vec<&'a RawValue>>(list.get()).unwrap_or_default() {
            let text = resource.get();
            self.resources.push((name(text).unwrap_or_else(|_| "a resource without a URN".to_owned()), text));
        }
    }
}

#[derive(Deserialize)]
struct Resource {
    urn: String,
}

#[derive(Deserialize)]
struct Pending {
    resource: Resource,
}

/// The URN of a resource as maloko writes it: first of all, so that the rest need not be read.
fn urn_at_start(text: &str) -> Option<&str> {
    let (urn, _) = text.strip_prefix("{\"urn\":\"")?.split_once('"')?;
    (!urn.contains('\\')).then_some(urn)
}

fn digest(text: &str) -> String {
    let mut hash = sha256_hex(text.as_bytes());
    hash.truncate(DIGITS);
    hash
}

/// The text as maloko would write it: without blanks.
fn compact(text: &str) -> Option<String> {
    serde_json::from_str::<serde_json::Value>(text).ok().map(|value| value.to_string())
}

/// The resources and the other parts of a checkpoint.
pub(in crate::state) fn parts_of(checkpoint: &[u8]) -> (Vec<Part>, Vec<Part>) {
    let texts = Texts::of(checkpoint);
    let digests = |list: Vec<(String, &str)>| list.into_iter().map(|(name, text)| (name, digest(text))).collect();
    (digests(texts.resources), digests(texts.parts))
}

/// Do two checkpoints say the same, but for the time at which they were written?
pub(in crate::state) fn differ_in_time_alone(one: &[u8], other: &[u8]) -> bool {
    fn timeless(checkpoint: &[u8]) -> (Texts<'_>, Option<serde_json::Value>) {
        let mut texts = Texts::of(checkpoint);
        let manifest = texts.parts.iter().position(|(name, _)| name == "checkpoint.latest.manifest");
        let manifest = manifest.and_then(|place| serde_json::from_str(texts.parts.remove(place).1).ok());
        let manifest = manifest.map(|mut manifest: serde_json::Value| {
            manifest.as_object_mut().map(|members| members.shift_remove("time"));
            manifest
        });
        (texts, manifest)
    }
    // No two times differ more in length.
    one.len().abs_diff(other.len()) < 64 && timeless(one) == timeless(other)
}

/// What differs from these parts.
pub(in crate::state) fn difference(resources: &[Part], parts: &[Part], checkpoint: &[u8]) -> String {
    if resources.is_empty() && parts.is_empty() {
        return "it was changed while it was being replaced, so what differs cannot be told".to_owned();
    }
    let texts = Texts::of(checkpoint);
    let mut found = Vec::new();
    let mut same_order = true;
    for (kind, sealed, now) in [("resource", resources, &texts.resources), ("part", parts, &texts.parts)] {
        let differs = differing(sealed, now);
        for (what, names) in [("changed", differs.changed), ("added", differs.added), ("missing", differs.missing)] {
            if !names.is_empty() {
                found.push(format!("{what} {}", listed(kind, &names)));
            }
        }
        same_order &= sealed.iter().map(|(name, _)| name).eq(now.iter().map(|(name, _)| name));
    }
    match (found.is_empty(), same_order) {
        (true, true) => "only the layout of its text differs".to_owned(),
        (true, false) => "its resources stand in another order".to_owned(),
        _ => found.join("; "),
    }
}

#[derive(Default)]
struct Differing<'a> {
    changed: Vec<&'a str>,
    added: Vec<&'a str>,
    missing: Vec<&'a str>,
}

fn differing<'a>(sealed: &'a [Part], now: &'a [(String, &str)]) -> Differing<'a> {
    let mut left: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, digest) in sealed {
        left.entry(name).or_default().push(digest);
    }
    let mut differing = Differing::default();
    let mut unmatched = Vec::new();
    for (name, text) in now {
        let known = left.get_mut(name.as_str()).filter(|digests| !digests.is_empty());
        let Some(known) = known else {
            differing.added.push(name);
            continue;
        };
        let same = |text: &str| known.iter().position(|known| **known == digest(text));
        match same(text).or_else(|| compact(text).and_then(|text| same(&text))) {
            Some(place) => drop(known.remove(place)),
            None => unmatched.push(name.as_str()),
        }
    }
    for name in unmatched {
        match left.get_mut(name).and_then(Vec::pop) {
            Some(_) => differing.changed.push(name),
            None => differing.added.push(name),
        }
    }
    differing.missing = sealed
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| left.get_mut(name).and_then(Vec::pop).is_some())
        .collect();
    differing
}

fn listed(kind: &str, names: &[&str]) -> String {
    let plural = if names.len() == 1 { "" } else { "s" };
    let shown = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => format!("{kind}{plural}: {shown}"),
        more => format!("{kind}{plural}: {shown}, and {more} more"),
    }
}
