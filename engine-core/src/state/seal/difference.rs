//! Where a checkpoint differs from the one that was sealed, in words.

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::digest::{hex, sha256};

/// A part of a checkpoint: its name and the first digits of its SHA-256. The seal as a whole is authenticated; these
/// only serve to name what differs.
pub(in crate::state) type Part = (String, String);

/// So much of a part's hash is kept (bytes).
const DIGEST_LEN: usize = 8;
/// The part that says which key the secrets have.
const SECRETS_PROVIDERS: &str = "checkpoint.latest.secrets_providers";
/// So many parts of a kind are named.
const NAMED: usize = 5;

/// The checkpoint's text, part by part.
#[derive(Default, PartialEq)]
struct Texts<'a> {
    /// The pending operations, then each resource by its URN, in order.
    resources: Vec<(String, &'a str)>,
    /// All other members, by their path: the outer ones first, sorted.
    parts: Vec<(String, &'a str)>,
}

impl<'a> Texts<'a> {
    /// Of a file that is none of ours, what can be told apart.
    fn of(checkpoint: &'a [u8]) -> Self {
        let mut reading = Reading::default();
        let mut json = serde_json::Deserializer::from_slice(checkpoint);
        // What was read before it ends is all that can be told.
        let _ = Level { depth: 0, reading: &mut reading }.deserialize(&mut json);
        let Reading { mut pending, resources, mut parts } = reading;
        pending.extend(resources);
        for level in &mut parts {
            level.sort_unstable();
        }
        Self { resources: pending, parts: parts.into_iter().flatten().collect() }
    }
}

/// The texts, as far as they were read.
#[derive(Default)]
struct Reading<'a> {
    pending: Vec<(String, &'a str)>,
    resources: Vec<(String, &'a str)>,
    parts: [Vec<(String, &'a str)>; LEVELS.len()],
}

/// The objects around the resources: the path of each, and the member that is the next one.
const LEVELS: [(&str, &str); 3] = [("", "checkpoint"), ("checkpoint.", "latest"), ("checkpoint.latest.", "")];

/// Reads one of those objects. All of them in one pass: the text of a large state is long.
struct Level<'r, 'a> {
    depth: usize,
    reading: &'r mut Reading<'a>,
}

impl<'de: 'a, 'a> DeserializeSeed<'de> for Level<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de: 'a, 'a> Visitor<'de> for Level<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { depth, reading } = self;
        let (path, inner) = LEVELS[depth];
        let is_last = depth + 1 == LEVELS.len();
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "resources" if is_last => {
                    let name = |text: &str| match urn_at_start(text) {
                        Some(urn) => Ok(urn.to_owned()),
                        None => serde_json::from_str::<Resource>(text).map(|it| it.urn),
                    };
                    members.next_value_seed(List { name, texts: &mut reading.resources })?;
                }
                "pending_operations" if is_last => {
                    let name = |text: &str| {
                        serde_json::from_str::<Pending>(text).map(|pending| format!("pending {}", pending.resource.urn))
                    };
                    members.next_value_seed(List { name, texts: &mut reading.pending })?;
                }
                _ if name == inner => members.next_value_seed(Level { depth: depth + 1, reading })?,
                _ => reading.parts[depth].push((format!("{path}{name}"), members.next_value::<&RawValue>()?.get())),
            }
        }
        Ok(())
    }

    /// A stack that was never written has `null` for its last state.
    fn visit_unit<E>(self) -> Result<(), E> {
        if let Some(outer) = self.depth.checked_sub(1) {
            let (path, inner) = LEVELS[outer];
            self.reading.parts[outer].push((format!("{path}{inner}"), "null"));
        }
        Ok(())
    }
}

/// Reads a list of resources, or of what has one, with their names.
struct List<'r, 'a, N> {
    name: N,
    texts: &'r mut Vec<(String, &'a str)>,
}

impl<'de: 'a, 'a, N: Fn(&str) -> serde_json::Result<String>> DeserializeSeed<'de> for List<'_, 'a, N> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de: 'a, 'a, N: Fn(&str) -> serde_json::Result<String>> Visitor<'de> for List<'_, 'a, N> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element::<&RawValue>()? {
            let name = (self.name)(item.get()).unwrap_or_else(|_| "a resource without a URN".to_owned());
            self.texts.push((name, item.get()));
        }
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
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
    hex(&sha256(text.as_bytes())[..DIGEST_LEN])
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

/// Was the key of the secrets changed since these parts were sealed, and everything encrypted anew? Of a state without secrets that cannot be
/// told.
pub(in crate::state) fn has_another_key(resources: &[Part], parts: &[Part], checkpoint: &[u8]) -> bool {
    let sealed: HashSet<&Part> = resources.iter().chain(parts).collect();
    let is_as_sealed = |name: &str, text: &str| {
        let known = |text: &str| sealed.contains(&(name.to_owned(), digest(text)));
        known(text) || compact(text).is_some_and(|text| known(&text))
    };
    let texts = Texts::of(checkpoint);
    let Some((name, provider)) = texts.parts.iter().find(|(name, _)| name == SECRETS_PROVIDERS) else { return false };
    let mut encrypted = texts.resources.iter().filter(|(_, text)| text.contains("\"ciphertext\"")).peekable();
    parts.iter().any(|(name, _)| name == SECRETS_PROVIDERS)
        && !is_as_sealed(name, provider)
        && encrypted.peek().is_some()
        && encrypted.all(|(name, text)| !is_as_sealed(name, text))
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
