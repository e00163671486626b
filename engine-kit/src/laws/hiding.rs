//! What the author or a provider says is secret is not told by the law that it breaks.

use serde_json::{Map, Value as Json};

use super::Words;
use super::compare::{is_listed, member_path, texts_in};
use super::show::show_maybe;

/// So many letters must a secret have to be told apart from other text.
const LONG_ENOUGH: usize = 6;
/// What stands between a value and what is said of it.
const REMARK: &str = "  (";
/// How what stands in the place of a secret begins.
const BEGINNING: &str = "[secret ";

/// What is secret among inputs and outputs. Each value has a number, by which a reader tells it from others.
#[derive(Clone, Debug, Default)]
pub(crate) struct SecretValues {
    /// The values, in the order of their numbers.
    values: Vec<Json>,
    /// The inputs that are secret, by name or path.
    secret: Vec<String>,
}

impl SecretValues {
    pub(crate) fn new(inputs: &[Json], secret: &[String]) -> Self {
        let mut hidden = Self { values: Vec::new(), secret: secret.to_vec() };
        for inputs in inputs {
            hidden.note(inputs, secret);
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

    /// Takes a text for secret.
    pub(super) fn add(&mut self, text: &str) {
        self.numbered(&Json::from(text));
    }

    fn note(&mut self, values: &Json, secret: &[String]) {
        self.noted(values, "", secret);
    }

    fn noted(&mut self, value: &Json, path: &str, secret: &[String]) {
        if !path.is_empty() && is_listed(path, secret) {
            return self.note_below(value);
        }
        match value {
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.noted(item, &format!("{path}[{index}]"), secret);
                }
            }
            Json::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by_key(|(key, _)| *key);
                for (key, item) in members {
                    self.noted(item, &member_path(path, key), secret);
                }
            }
            _ => {}
        }
    }

    /// What stands in the place of a value: equal values have the same number.
    fn numbered(&mut self, value: &Json) -> String {
        let known = self.values.iter().position(|it| it == value);
        let at = known.unwrap_or_else(|| {
            self.values.push(value.clone());
            self.values.len() - 1
        });
        mark(at)
    }

    /// The words without what is secret.
    pub(crate) fn out_of(&mut self, words: Words) -> Words {
        let (expected, found) = if is_listed(&words.property, &self.secret) {
            (self.value_hidden(&words.expected), self.value_hidden(&words.found))
        } else {
            (self.out_of_text(&words.expected), self.out_of_text(&words.found))
        };
        Words { expected, found, ..words }
    }

    /// A text without it. A short secret is hidden where it stands alone, between quotes.
    pub(crate) fn out_of_text(&self, text: &str) -> String {
        let texts = self.values.iter().enumerate().filter_map(|(at, value)| Some((at, value.as_str()?)));
        let mut texts: Vec<(usize, &str)> = texts.filter(|(_, it)| !it.is_empty()).collect();
        texts.sort_by_key(|(_, it)| std::cmp::Reverse(it.len()));
        texts.into_iter().fold(text.to_owned(), |text, (at, secret)| {
            let quoted = Json::from(secret).to_string();
            if secret.chars().count() < LONG_ENOUGH {
                return text.replace(&quoted, &Json::from(mark(at)).to_string());
            }
            text.replace(&quoted[1..quoted.len() - 1], &mark(at)).replace(secret, &mark(at))
        })
    }

    /// Inputs without what stands at a secret path, or below one.
    pub(crate) fn out_of_inputs(&mut self, inputs: &Json) -> Json {
        self.without(inputs, "")
    }

    /// The value of the property at a path in words: itself, or what stands in its place.
    pub(crate) fn shown_at(&mut self, path: &str, value: Option<&Json>) -> String {
        match value {
            Some(value) if is_listed(path, &self.secret) => self.numbered(value),
            value => show_maybe(value.map(|value| self.without(value, path)).as_ref()),
        }
    }

    fn without(&mut self, value: &Json, path: &str) -> Json {
        if !path.is_empty() && is_listed(path, &self.secret) {
            self.note_below(value);
            return Json::from(self.numbered(value));
        }
        match value {
            Json::Array(items) => {
                let items = items.iter().enumerate();
                items.map(|(index, item)| self.without(item, &format!("{path}[{index}]"))).collect()
            }
            Json::Object(members) => {
                let shown =
                    members.iter().map(|(key, item)| (key.clone(), self.without(item, &member_path(path, key))));
                Json::Object(shown.collect::<Map<_, _>>())
            }
            other => other.clone(),
        }
    }

    /// Numbers a secret, and the texts in it.
    fn note_below(&mut self, value: &Json) {
        self.numbered(value);
        for (_, text) in texts_in(value) {
            self.numbered(&Json::from(text));
        }
    }

    /// A value of which only the kind is shown.
    fn value_hidden(&mut self, text: &str) -> String {
        let (value, remark) = text.split_once(REMARK).map_or((text, None), |(value, remark)| (value, Some(remark)));
        let shown = match value {
            "nothing" => value.to_owned(),
            _ if value.starts_with(BEGINNING) => value.to_owned(),
            _ => self.numbered(&serde_json::from_str(value).unwrap_or_else(|_| Json::from(value))),
        };
        remark.map_or_else(|| shown.clone(), |remark| format!("{shown}{REMARK}{remark}"))
    }
}

fn mark(at: usize) -> String {
    format!("{BEGINNING}{}]", at + 1)
}

#[cfg(test)]
#[path = "hiding_tests.rs"]
mod tests;
