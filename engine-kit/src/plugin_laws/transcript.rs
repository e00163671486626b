//! The transcript of a plugin: what its methods returned and raised, and what it said.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use maloko_core::provider::{Answer, ProviderError};
use serde_json::{Value as Json, json};

use crate::json::{Secrets, properties};

/// See the module's text.
#[derive(Default)]
pub(crate) struct PluginTranscript(Mutex<Notes>);

#[derive(Default)]
struct Notes {
    raised: Vec<(&'static str, String)>,
    returned: HashMap<&'static str, Answer>,
    said: Vec<String>,
    awaited: Option<(String, EntryHook)>,
}

/// Called when a method is entered.
pub(crate) type EntryHook = Box<dyn FnOnce() + Send>;

impl PluginTranscript {
    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets all, for another example.
    pub(crate) fn clear(&self) {
        *self.notes() = Notes::default();
    }

    pub(crate) fn say(&self, text: &str) {
        self.notes().said.push(text.to_owned());
    }

    /// Has something done when a method is entered, once.
    pub(crate) fn when_entered(&self, method: &str, entered: EntryHook) {
        self.notes().awaited = Some((method.to_owned(), entered));
    }

    pub(crate) fn enters(&self, method: &str) {
        let entered = self.notes().awaited.take_if(|(awaited, _)| awaited == method);
        if let Some((_, entered)) = entered {
            entered();
        }
    }

    pub(crate) fn ended(&self, method: &'static str, outcome: &Result<Answer, ProviderError>) {
        let mut notes = self.notes();
        match outcome {
            Ok(answer) => drop(notes.returned.insert(method, answer.clone())),
            Err(error) => notes.raised.push((method, error.message.to_string())),
        }
    }

    /// How many errors there were so far.
    pub(crate) fn errors(&self) -> usize {
        self.notes().raised.len()
    }

    /// The first error after so many.
    pub(crate) fn error_after(&self, count: usize) -> Option<String> {
        self.notes().raised.get(count).map(|(_, message)| message.clone())
    }

    /// Did the last `read` say that there is no such object?
    pub(crate) fn read_nothing(&self) -> bool {
        matches!(self.notes().returned.get("read"), Some(Answer::Read { id, .. }) if id.is_empty())
    }

    /// What the last call of a method returned, as laws take it.
    pub(crate) fn returned(&self, method: &str) -> Json {
        let outputs = match self.notes().returned.get(method) {
            Some(Answer::Created { outputs, .. } | Answer::Updated { outputs, .. }) => Some(outputs.clone()),
            Some(Answer::Read { outputs, .. }) => Some(outputs.clone().unwrap_or_default()),
            _ => None,
        };
        outputs.map_or(Json::Null, |outputs| json!({ "outputs": properties(&outputs, Secrets::Open), "odd": [] }))
    }

    /// What people could read of it.
    pub(crate) fn shown(&self, messages: &[String]) -> Json {
        let notes = self.notes();
        let errors = notes.raised.iter();
        let errors: Vec<Json> =
            errors.map(|(method, text)| json!({ "method": method, "error": text, "whole": text })).collect();
        json!({ "errors": errors, "printed": notes.said.join("\n"), "provider": "", "messages": messages })
    }
}
