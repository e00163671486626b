//! Keeps what is known to be secret out of the files that tests keep: baselines, snapshots, cassettes.
//!
//! A provider may well put a secret into a property that nobody marked as one.

use maloko_core::redaction::{MESSAGE_MINIMUM, Redactor, SECRET_TEXT, number_texts};
use maloko_core::value::{SECRET_SIGNATURE, SIGNATURE_KEY};
use serde_json::Value as Json;

/// What stands for a provider object in a state. No file of a test has it.
pub(crate) const PROVIDER: &str = "__provider";

/// The texts and long numbers inside the secrets of an exported state, but for what stands for provider objects.
pub(crate) fn secret_texts(state: &Json) -> Vec<String> {
    let mut texts = Vec::new();
    collect(state, &mut texts);
    texts
}

fn collect(state: &Json, texts: &mut Vec<String>) {
    match state {
        Json::Object(members) if members.get(SIGNATURE_KEY).and_then(Json::as_str) == Some(SECRET_SIGNATURE) => {
            let plain = members.get("plaintext").and_then(Json::as_str);
            if let Some(Ok(value)) = plain.map(serde_json::from_str::<Json>) {
                texts_in(&value, texts);
            }
        }
        Json::Object(members) => {
            members.iter().filter(|(key, _)| *key != PROVIDER).for_each(|(_, member)| collect(member, texts));
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        _ => {}
    }
}

fn texts_in(value: &Json, texts: &mut Vec<String>) {
    match value {
        Json::String(text) => texts.push(text.clone()),
        Json::Number(number) => texts.extend(number.as_f64().into_iter().flat_map(number_texts)),
        Json::Array(items) => items.iter().for_each(|item| texts_in(item, texts)),
        Json::Object(members) => members.values().for_each(|member| texts_in(member, texts)),
        _ => {}
    }
}

/// The texts without these secrets, in every form that the core's redactor knows: each secret with what stands in its place.
/// A secret that is too short for the redactor is hidden as it is where `short` says so, and else it is not.
pub(crate) fn redact(secrets: &[(String, String)], texts: Vec<String>, short: bool) -> Vec<String> {
    let mut known: Vec<&(String, String)> =
        secrets.iter().filter(|(secret, hidden)| secret != SECRET_TEXT && secret != hidden).collect();
    // The longest first, so that a secret that holds another one is hidden whole.
    known.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
    let mut redactors: Vec<(&str, Redactor)> = Vec::new();
    for (secret, hidden) in known.iter().filter(|(secret, _)| secret.len() >= MESSAGE_MINIMUM) {
        // Those of one text belong together: one pass hides them all.
        match redactors.last() {
            Some((same, redactor)) if same == hidden => redactor.learn(secret),
            _ => {
                let redactor = Redactor::new();
                redactor.learn(secret);
                redactors.push((hidden, redactor));
            }
        }
    }
    let short: Vec<&&(String, String)> =
        known.iter().filter(|(secret, _)| short && !secret.is_empty() && secret.len() < MESSAGE_MINIMUM).collect();
    let redact = |text: String| {
        let text = redactors
            .iter()
            .fold(text, |text, (hidden, redactor)| redactor.redact_as(&text, MESSAGE_MINIMUM, hidden).into_owned());
        short.iter().fold(text, |text, (secret, hidden)| text.replace(secret, hidden))
    };
    texts.into_iter().map(redact).collect()
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
