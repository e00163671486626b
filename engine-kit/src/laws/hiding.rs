//! What the author or a provider says is secret is not told by the law that it breaks.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::Words;
use super::compare::{is_listed, texts_in};
use super::subject::Subject;

/// What stands in the place of a secret.
pub(super) const HIDDEN: &str = "[secret]";
/// So many letters must a secret have to be told apart from other text.
const LONG_ENOUGH: usize = 6;
/// What stands between a value and what is said of it.
const REMARK: &str = "  (";

/// The texts that are secret among inputs and outputs.
#[derive(Default)]
pub(super) struct Hidden {
    texts: BTreeSet<String>,
    /// The inputs that are secret, by name or path.
    secret: Vec<String>,
}

impl Hidden {
    pub(super) fn new(subject: &Subject) -> Self {
        let secret = subject.secret.clone().unwrap_or_default();
        let mut hidden = Self { texts: BTreeSet::new(), secret: secret.clone() };
        for inputs in &subject.inputs {
            hidden.note(inputs, &secret);
        }
        hidden
    }

    /// Notes the secret outputs in what a host answered: those of the resources in the state.
    pub(super) fn learn(&mut self, answer: &Json) {
        let resources = answer.get("resources").and_then(Json::as_object);
        for made in resources.into_iter().flat_map(|resources| resources.values()) {
            let paths = made.get("secret").and_then(Json::as_array).into_iter().flatten();
            let paths: Vec<String> = paths.filter_map(Json::as_str).map(str::to_owned).collect();
            self.note(made.get("outputs").unwrap_or(&Json::Null), &paths);
        }
    }

    fn note(&mut self, values: &Json, secret: &[String]) {
        let texts = texts_in(values).into_iter().filter(|(path, _)| is_listed(path, secret));
        self.texts.extend(texts.map(|(_, text)| text.to_owned()));
    }

    /// The words without them.
    pub(super) fn out_of(&self, words: Words) -> Words {
        let is_secret = is_listed(&words.property, &self.secret);
        let clean = |text: &str| if is_secret { value_hidden(text) } else { self.out_of_text(text) };
        Words { expected: clean(&words.expected), found: clean(&words.found), ..words }
    }

    /// A text without them. A short one is hidden where it stands alone, between quotes.
    pub(super) fn out_of_text(&self, text: &str) -> String {
        let mut texts: Vec<&String> = self.texts.iter().filter(|it| !it.is_empty()).collect();
        texts.sort_by_key(|it| std::cmp::Reverse(it.len()));
        texts.into_iter().fold(text.to_owned(), |text, secret| {
            let quoted = Json::from(secret.as_str()).to_string();
            if secret.chars().count() < LONG_ENOUGH {
                return text.replace(&quoted, &Json::from(HIDDEN).to_string());
            }
            text.replace(&quoted[1..quoted.len() - 1], HIDDEN).replace(secret.as_str(), HIDDEN)
        })
    }
}

/// A value of which only the kind is shown.
fn value_hidden(text: &str) -> String {
    match text.split_once(REMARK) {
        Some(("nothing", _)) => text.to_owned(),
        Some((_, remark)) => format!("{HIDDEN}{REMARK}{remark}"),
        None => HIDDEN.to_owned(),
    }
}

#[cfg(test)]
#[path = "hiding_tests.rs"]
mod tests;
