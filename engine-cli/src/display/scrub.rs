//! Keeps the plain text of known secrets out of messages.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{PoisonError, RwLock};

use maloko_core::value::{ArchiveSource, AssetSource, PropertyMap, Value};

/// What stands in the place of a secret.
pub(super) const SECRET_TEXT: &str = "[secret]";

/// In messages a secret is looked for from this length on (bytes); a shorter one would hide half of every sentence.
pub(super) const MESSAGE_MINIMUM: usize = 4;
/// In property values, which are marked as secret themselves where they are, only a long text is no coincidence.
pub(super) const VALUE_MINIMUM: usize = 8;

/// Words that are a secret's value now and then, and no secret as a word.
const HARMLESS: [&str; 6] = ["true", "false", "null", "none", "True", "False"];

/// A secret is found by its first bytes, so that the cost of a search does not depend on how many there are.
type Head = [u8; MESSAGE_MINIMUM];

/// The plain texts that must not be shown. Shared by everything that prints during a command; learns as it goes.
#[derive(Default)]
pub struct Scrubber {
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    known: HashSet<Box<str>>,
    /// One bit for each pair of bytes that a secret begins with: rules out nearly every place of a text at once.
    pairs: Vec<u64>,
    /// The longest first, so that a secret that begins with another one is hidden whole.
    by_head: HashMap<Head, Vec<Box<str>>>,
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scrubber")
    }
}

impl Scrubber {
    /// One that knows no secret yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers a secret text: as it is, as it stands in JSON, each long line of it (output arrives line by line), and
    /// where it is a JSON object or list, the texts in that.
    pub fn learn(&self, secret: &str) {
        if self.read(|table| table.known.contains(secret)) {
            // With all its forms.
            return;
        }
        self.add(secret);
        self.add(secret.trim());
        if let Ok(quoted) = serde_json::to_string(secret) {
            self.add(&quoted[1..quoted.len() - 1]);
        }
        if secret.contains('\n') {
            for line in secret.lines().map(str::trim).filter(|line| line.len() >= VALUE_MINIMUM) {
                self.add(line);
            }
        }
        if secret.starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str::<serde_json::Value>(secret)
        {
            self.learn_json(&value);
        }
    }

    fn learn_json(&self, value: &serde_json::Value) {
        match value {
            serde_json::Value::String(text) => self.learn(text),
            serde_json::Value::Array(items) => items.iter().for_each(|item| self.learn_json(item)),
            serde_json::Value::Object(members) => members.values().for_each(|item| self.learn_json(item)),
            _ => {}
        }
    }

    /// Remembers every text inside the secrets of these properties.
    pub fn learn_properties(&self, properties: &PropertyMap) {
        for value in properties.values() {
            self.learn_value(value, false);
        }
    }

    fn learn_value(&self, value: &Value, secret: bool) {
        match value {
            Value::String(text) if secret => self.learn(text),
            Value::Secret(inner) => self.learn_value(inner, true),
            Value::Output(output) => {
                if let Some(inner) = &output.value {
                    self.learn_value(inner, secret || output.secret);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn_value(item, secret)),
            Value::Object(members) => members.values().for_each(|item| self.learn_value(item, secret)),
            Value::Asset(asset) if secret => {
                if let AssetSource::Text(text) = &asset.source {
                    self.learn(text);
                }
            }
            Value::Archive(archive) => {
                if let ArchiveSource::Assets(assets) = &archive.source {
                    for item in assets.values() {
                        self.learn_value(item, secret);
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&self, secret: &str) {
        let Some(head) = head_of(secret.as_bytes()) else { return };
        if HARMLESS.contains(&secret) || self.read(|table| table.known.contains(secret)) {
            return;
        }
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if table.known.insert(secret.into()) {
            let bucket = table.by_head.entry(head).or_default();
            let place = bucket.partition_point(|other| other.len() >= secret.len());
            bucket.insert(place, secret.into());
            table.pairs.resize(PAIR_WORDS, 0);
            let (word, bit) = pair_of(head);
            table.pairs[word] |= bit;
        }
    }

    fn read<T>(&self, look: impl FnOnce(&Table) -> T) -> T {
        look(&self.table.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The text with every known secret of at least `minimum` bytes replaced by [`SECRET_TEXT`].
    #[must_use]
    pub fn scrub<'a>(&self, text: &'a str, minimum: usize) -> Cow<'a, str> {
        self.read(|table| {
            if table.known.is_empty() {
                return Cow::Borrowed(text);
            }
            let bytes = text.as_bytes();
            let mut result = String::new();
            let (mut copied, mut at) = (0, 0);
            while let Some(head) = head_of(&bytes[at..]) {
                let (word, bit) = pair_of(head);
                let bucket = if table.pairs[word] & bit == 0 { None } else { table.by_head.get(&head) };
                let found = bucket.and_then(|bucket| {
                    bucket.iter().find(|s| s.len() >= minimum && bytes[at..].starts_with(s.as_bytes()))
                });
                if let Some(secret) = found {
                    // Both are UTF-8, so a match begins and ends between characters.
                    result.push_str(&text[copied..at]);
                    result.push_str(SECRET_TEXT);
                    at += secret.len();
                    copied = at;
                } else {
                    at += 1;
                }
            }
            if copied == 0 {
                return Cow::Borrowed(text);
            }
            result.push_str(&text[copied..]);
            Cow::Owned(result)
        })
    }

    /// A message fit to be shown.
    #[must_use]
    pub fn message<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.scrub(text, MESSAGE_MINIMUM)
    }
}

/// 2^16 bits.
const PAIR_WORDS: usize = 1024;

/// The word and the bit that stand for the first two bytes.
fn pair_of(head: Head) -> (usize, u64) {
    let pair = usize::from(head[0]) << 8 | usize::from(head[1]);
    (pair / 64, 1 << (pair % 64))
}

fn head_of(bytes: &[u8]) -> Option<Head> {
    bytes.first_chunk::<MESSAGE_MINIMUM>().copied()
}
