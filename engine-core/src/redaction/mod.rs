//! Keeps the plain text of known secrets out of messages.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

mod forms;
mod known_secrets;
mod reading;
mod unescape;
mod view;

use known_secrets::KnownSecrets;
use reading::{each_reading, origin};

use crate::value::{AssetSource, PropertyMap, Value, base64_of};

pub use forms::number_texts;

/// What stands in the place of a secret.
pub const SECRET_TEXT: &str = "[secret]";

/// In messages a secret is looked for from this length on (bytes); a shorter one would hide half of every sentence.
pub const MESSAGE_MINIMUM: usize = 4;
/// In property values, which are marked as secret themselves where they are, only a long text is no coincidence.
pub const VALUE_MINIMUM: usize = 8;
/// A number is looked for from so many digits on: more than a port, a year or a number of items has.
pub const NUMBER_MINIMUM: usize = 6;

/// Words that are a secret's value now and then, and no secret as a word.
const HARMLESS: [&str; 6] = ["true", "false", "null", "none", "True", "False"];

/// Parts of names of attributes that hold secrets.
const SECRET_NAMES: [&str; 8] =
    ["token", "secret", "passw", "passphrase", "apikey", "api_key", "credential", "private"];

/// The plain texts that must not be shown. Shared by everything that prints during a command; learns as it goes.
#[derive(Default)]
pub struct Redactor {
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    /// Secrets as they came.
    learned: HashSet<Box<str>>,
    /// Attributes of providers that were looked through.
    attributes: HashSet<Box<str>>,
    /// Every reading and form of the secrets.
    known: KnownSecrets,
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

    /// Remembers a secret text: as it is, in base64 and base 16, each long line of it (output arrives line by line), and
    /// where it is a JSON object or list, the texts and numbers in that. A search undoes escapes and control characters by itself.
    pub fn learn(&self, secret: &str) {
        if self.read(|table| table.learned.contains(secret)) {
            return;
        }
        {
            let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
            table.learned.insert(secret.into());
            table.add(secret);
            table.add(secret.trim());
            for form in forms::encoded(secret) {
                table.add(&form);
            }
            if secret.contains('\n') {
                for line in secret.lines().map(str::trim).filter(|line| line.len() >= VALUE_MINIMUM) {
                    table.add(line);
                }
            }
        }
        if secret.starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str::<serde_json::Value>(secret)
        {
            self.learn_json(&value);
        }
    }

    fn learn_number(&self, number: f64) {
        for text in number_texts(number) {
            self.learn(&text);
        }
    }

    fn learn_json(&self, value: &serde_json::Value) {
        match value {
            serde_json::Value::String(text) => self.learn(text),
            serde_json::Value::Number(number) => {
                if let Some(number) = number.as_f64() {
                    self.learn_number(number);
                }
            }
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

    /// Remembers every text and every long number inside the secrets of these properties.
    pub fn learn_properties(&self, properties: &PropertyMap) {
        for value in properties.values() {
            self.learn_value(value, false);
        }
    }

    fn learn_value(&self, value: &Value, secret: bool) {
        match value {
            Value::String(text) if secret => self.learn(text),
            // They are shown in this form alone.
            Value::Bytes(bytes) if secret => self.learn(&base64_of(bytes)),
            Value::Number(number) if secret => self.learn_number(*number),
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
            if table.known.is_empty() {
                return Cow::Borrowed(text);
            }
            let places = table.places(text, minimum);
            if places.is_empty() {
                return Cow::Borrowed(text);
            }
            let mut result = String::with_capacity(text.len());
            let mut copied = 0;
            for place in places {
                // An ESC before it would take the beginning of what is put there for its own.
                let start = place.start - usize::from(text[copied..place.start].ends_with('\x1b'));
                result.push_str(&text[copied..start]);
                result.push_str(hidden);
                copied = place.end;
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
            if table.known.is_empty() {
                return text.len();
            }
            let mut at = text.len();
            each_reading(text.as_bytes(), |reading, views| {
                let sure = reading.len().saturating_sub(table.known.longest() + UNFINISHED_ESCAPE);
                at = at.min(origin(views, 0..sure).end);
            });
            at = letter_start(text, at);
            // A secret that began before is whole by now; the cut goes before it.
            let across =
                table.places(text, MESSAGE_MINIMUM).into_iter().find(|place| place.start < at && at < place.end);
            across.map_or(at, |place| place.start)
        })
    }

    /// A message fit to be shown.
    #[must_use]
    pub fn message<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.redact(text, MESSAGE_MINIMUM)
    }
}

/// An escape at the end of what has arrived may go on; it then stands for fewer bytes than it has.
const UNFINISHED_ESCAPE: usize = 64;

impl Table {
    /// Adds each reading of a form of a secret.
    fn add(&mut self, form: &str) {
        if !HARMLESS.contains(&form) {
            each_reading(form.as_bytes(), |reading, _| self.known.add(reading));
        }
    }

    /// Where secrets of at least `minimum` bytes stand in a text, in whatever reading of it; in order, none inside of another.
    fn places(&self, text: &str, minimum: usize) -> Vec<Range<usize>> {
        let mut places = Vec::new();
        each_reading(text.as_bytes(), |reading, views| {
            places.extend(self.known.find(reading, minimum).into_iter().map(|place| origin(views, place)));
        });
        places.sort_unstable_by_key(|place| place.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(places.len());
        for place in places {
            // A byte of a letter that was written as bytes is no place to cut at.
            let place = letter_start(text, place.start)..letter_end(text, place.end);
            match merged.last_mut() {
                Some(last) if place.start < last.end => last.end = last.end.max(place.end),
                _ => merged.push(place),
            }
        }
        merged
    }
}

/// The beginning of the letter that this byte belongs to.
fn letter_start(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The end of the letter that ends here or after it.
fn letter_end(text: &str, at: usize) -> usize {
    (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests;
