//! What a provider says is secret is not told by the law that it breaks.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::Words;
use super::compare::{is_listed, texts_in};

/// So many letters must a secret have to be told apart from other text.
const LONG_ENOUGH: usize = 6;

/// The texts among the outputs that are secret, as JSON has them between its quotes.
#[derive(Default)]
pub(super) struct Hidden(BTreeSet<String>);

impl Hidden {
    /// Notes the secret outputs in what a host answered: those of the resources in the state.
    pub(super) fn learn(&mut self, answer: &Json) {
        let resources = answer.get("resources").and_then(Json::as_object);
        for made in resources.into_iter().flat_map(|resources| resources.values()) {
            let paths = made.get("secret").and_then(Json::as_array).into_iter().flatten();
            let paths: Vec<String> = paths.filter_map(Json::as_str).map(str::to_owned).collect();
            let outputs = made.get("outputs").unwrap_or(&Json::Null);
            for (path, text) in texts_in(outputs) {
                if is_listed(&path, &paths) && text.chars().count() >= LONG_ENOUGH {
                    let quoted = Json::from(text).to_string();
                    self.0.extend(quoted.get(1..quoted.len() - 1).map(str::to_owned));
                }
            }
        }
    }

    /// The words without them.
    pub(super) fn out_of(&self, mut words: Words) -> Words {
        for text in [&mut words.expected, &mut words.found] {
            for hidden in &self.0 {
                *text = text.replace(hidden.as_str(), "[secret]");
            }
        }
        words
    }
}
