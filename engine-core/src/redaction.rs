//! Keeps the plain text of known secrets out of messages.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};

use crate::fail_points;
use crate::value::{AssetSource, PropertyMap, Value};

/// What stands in the place of a secret.
pub const SECRET_TEXT: &str = "[secret]";

/// In messages a secret is looked for from this length on (bytes); a shorter one would hide half of every sentence.
pub const MESSAGE_MINIMUM: usize = 4;
/// In property values, which are marked as secret themselves where they are, only a long text is no coincidence.
pub const VALUE_MINIMUM: usize = 8;

/// Words that are a secret's value now and then, and no secret as a word.
const HARMLESS: [&str; 6] = ["true", "false", "null", "none", "True", "False"];

/// Parts of names of attributes that hold secrets.
const SECRET_NAMES: [&str; 8] =
    ["token", "secret", "passw", "passphrase", "apikey", "api_key", "credential", "private"];

/// A secret is found by its first bytes, so that the cost of a search hardly depends on how many there are. The automaton of
/// `aho-corasick` searches faster, and has to be made anew for each secret that is learned during a run: a message after each of
/// 300 secrets took 3.3 s in place of 1.5 ms.
type Head = [u8; MESSAGE_MINIMUM];

/// The plain texts that must not be shown. Shared by everything that prints during a command; learns as it goes.
#[derive(Default)]
pub struct Redactor {
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    known: HashSet<Box<str>>,
    /// Attributes of providers that were looked through.
    attributes: HashSet<Box<str>>,
    /// Bytes of the longest secret.
    longest: usize,
    /// One bit for each pair of bytes that a secret begins with: rules out nearly every place of a text at once.
    pairs: Vec<u64>,
    /// The longest first, so that a secret that begins with another one is hidden whole.
    by_head: HashMap<Head, Vec<Box<str>>>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// One that knows no secret yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Remembers a secret text: as it is, in the forms that it has in JSON, URLs, HTML and base64, each long line of it
    /// (output arrives line by line), and where it is a JSON object or list, the texts in that.
    pub fn learn(&self, secret: &str) {
        if self.read(|table| table.known.contains(secret)) {
            // With all its forms.
            return;
        }
        self.add(secret);
        self.add(secret.trim());
        for form in forms(secret.trim()) {
            self.add(&form);
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

    /// Remembers those attributes of a provider object (a JSON object) whose names say that they are secret. Nobody can
    /// know it of the others, and to hide each would hide every word.
    pub fn learn_attributes(&self, attributes: &str) {
        if self.read(|table| table.attributes.contains(attributes)) {
            return;
        }
        self.table.write().unwrap_or_else(PoisonError::into_inner).attributes.insert(attributes.into());
        if let Ok(attributes) = serde_json::from_str(attributes) {
            self.learn_named(&attributes);
        }
    }

    /// Remembers what has a telling name, at any depth.
    fn learn_named(&self, value: &serde_json::Value) {
        match value {
            serde_json::Value::Object(members) => {
                for (name, value) in members {
                    let name = name.to_ascii_lowercase();
                    if SECRET_NAMES.iter().any(|part| name.contains(part)) {
                        self.learn_json(value);
                    } else {
                        self.learn_named(value);
                    }
                }
            }
            serde_json::Value::Array(items) => items.iter().for_each(|item| self.learn_named(item)),
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
                for item in archive.members().into_iter().flat_map(|members| members.values()) {
                    self.learn_value(item, secret);
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
            table.longest = table.longest.max(secret.len());
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
    pub fn redact<'a>(&self, text: &'a str, minimum: usize) -> Cow<'a, str> {
        self.redact_as(text, minimum, SECRET_TEXT)
    }

    /// The same with another text in the place of the secrets.
    #[must_use]
    pub fn redact_as<'a>(&self, text: &'a str, minimum: usize, hidden: &str) -> Cow<'a, str> {
        self.read(|table| {
            if table.known.is_empty() || fail_points::is_on("planted::redaction-skipped") {
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
                    result.push_str(hidden);
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

    /// Where a text may be cut, so that what is shown of it at once holds no part of a secret: the rest may go on with
    /// what has not arrived yet. 0 when it may not be cut.
    #[must_use]
    pub fn cut(&self, text: &str) -> usize {
        self.read(|table| {
            let mut at = text.len().saturating_sub(table.longest);
            // A secret that began before is whole by now; the cut goes before it.
            let begins = |start: &usize| {
                head_of(&text.as_bytes()[*start..]).and_then(|head| table.by_head.get(&head)).is_some_and(|bucket| {
                    bucket.iter().any(|secret| {
                        start + secret.len() > at && text.as_bytes()[*start..].starts_with(secret.as_bytes())
                    })
                })
            };
            at = (at.saturating_sub(table.longest)..at).find(begins).unwrap_or(at);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        })
    }

    /// A message fit to be shown.
    #[must_use]
    pub fn message<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact(text, MESSAGE_MINIMUM)
    }
}

/// The other forms in which a secret gets into messages.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = Vec::new();
    if let Ok(quoted) = serde_json::to_string(secret) {
        let quoted = &quoted[1..quoted.len() - 1];
        forms.push(quoted.to_owned());
        // JSON in JSON, as a state or an event has it.
        forms.push(quoted.replace('\\', "\\\\").replace('"', "\\\""));
        // As those write it who keep to ASCII, and as Python shows a text.
        forms.push(quoted.chars().map(ascii_json).collect());
        forms.push(quoted.replace("\\\"", "\""));
        forms.push(quoted.replace("\\\"", "\"").replace('\'', "\\'"));
    }
    let url: String = secret.bytes().map(|byte| percent(byte, b"-._~")).collect();
    forms.push(url.replace("%20", "+"));
    forms.push(secret.bytes().map(|byte| percent(byte, b"-._~/")).collect());
    forms.push(secret.bytes().map(|byte| percent(byte, b"-._~!'()*")).collect());
    forms.push(url);
    let html = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    forms.push(html.replace('"', "&quot;").replace('\'', "&#x27;"));
    forms.push(html.replace('"', "&quot;").replace('\'', "&#39;"));
    forms.push(html);
    if secret.len() >= VALUE_MINIMUM {
        forms.extend((0..3).flat_map(|offset| base64(secret.as_bytes(), offset)));
    } else if secret.len() >= MESSAGE_MINIMUM {
        // Encoded alone: what is left of it between other bytes would be too short.
        forms.extend([&STANDARD, &URL_SAFE].map(|alphabet| alphabet.encode(secret).trim_end_matches('=').to_owned()));
    }
    forms.retain(|form| form != secret);
    forms
}

fn ascii_json(letter: char) -> String {
    if letter.is_ascii() {
        return letter.to_string();
    }
    let units: Vec<String> = letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
    units.concat()
}

fn percent(byte: u8, plain: &[u8]) -> String {
    if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

/// What base64 makes of a secret that stands `offset` bytes (modulo 3) after the beginning of what is encoded, without
/// the digits that depend on what is around it; in both alphabets.
fn base64(secret: &[u8], offset: usize) -> [String; 2] {
    let mut bytes = vec![0; offset];
    bytes.extend_from_slice(secret);
    let first = (offset * 8).div_ceil(6);
    let last = bytes.len() * 8 / 6;
    [STANDARD, URL_SAFE].map(|alphabet| alphabet.encode(&bytes)[first..last].to_owned())
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

#[cfg(test)]
#[path = "redaction_tests.rs"]
mod tests;
