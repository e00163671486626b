//! A call of a provider that a test logged, and what must come of it when it is made again: a report of a bug becomes a test.

use std::fs;
use std::path::{Path, PathBuf};

use maloko_core::redaction::SECRET_TEXT;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::read;

/// Stands for anything in what was logged, and within a text for any part of it. So does what hides a secret.
const ANYTHING: &str = "*";

/// A call as its file has it.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct LoggedCall {
    method: String,
    args: Map<String, Json>,
    #[serde(default)]
    result: Json,
    #[serde(default)]
    error: Option<String>,
}

/// A call, or the file that has it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum CallOrFile {
    File(PathBuf),
    Call(Json),
}

/// The outcome of the call that was made again.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallOutcome {
    /// Its answer, with the names that a log has.
    Answered(Json),
    /// The texts that a log may have of the failure; the first one is shown.
    Failed(Vec<String>),
}

impl LoggedCall {
    /// Writes it to a file.
    pub(crate) fn save(&self, file: &Path) -> Result<(), String> {
        fs::write(file, format!("{:#}\n", json!(self)))
            .map_err(|error| format!("the call cannot be written to {}: {error}", file.display()))
    }

    /// A call that can be made again, with its arguments in the order of the method's: `{ "call", "arguments" }`. `how`: what
    /// writes one.
    pub(crate) fn to_repeat(logged: CallOrFile, how: &str) -> Result<Json, String> {
        let (place, json) = match logged {
            CallOrFile::File(file) => (file.display().to_string(), read(&file)),
            CallOrFile::Call(call) => ("what is given".to_owned(), Ok(call)),
        };
        let ordered = |json: Json| {
            let call: Self = serde_json::from_value(json).map_err(|error| error.to_string())?;
            let names =
                arguments(&call.method).ok_or_else(|| format!("`{}` cannot be called by itself", call.method))?;
            let given = |name: &&str| call.args.get(*name).cloned().ok_or_else(|| format!("`args` has no `{name}`"));
            let arguments: Vec<Json> = names.iter().map(given).collect::<Result<_, String>>()?;
            Ok(json!({ "call": call, "arguments": arguments }))
        };
        json.and_then(ordered)
            .map_err(|why| format!("{place} is no call that could be made again: {why}. {how} writes one"))
    }

    /// What is other than logged, as a text; `None` when nothing is.
    pub(crate) fn difference(&self, outcome: &CallOutcome) -> Option<String> {
        let method = &self.method;
        match (outcome, &self.error) {
            (CallOutcome::Answered(answer), None) => {
                let mut lines = Vec::new();
                compare(&self.result, Some(answer), "", &mut lines);
                (!lines.is_empty()).then(|| format!("`{method}` does not answer as logged\n  {}", lines.join("\n  ")))
            }
            (CallOutcome::Answered(_), Some(logged)) => {
                Some(format!("`{method}` does not fail, as it did when it was logged: {logged}"))
            }
            (CallOutcome::Failed(texts), None) => {
                Some(format!("`{method}` fails, which it did not when it was logged: {}", shown(texts)))
            }
            (CallOutcome::Failed(texts), Some(logged)) => (!texts.iter().any(|text| fits(logged, text)))
                .then(|| format!("`{method}` fails otherwise than logged: {}\nlogged: {logged}", shown(texts))),
        }
    }
}

/// The names of a method's arguments in their order; `None` for what is called with others only, or not at all.
fn arguments(method: &str) -> Option<&'static [&'static str]> {
    Some(match method {
        "configure" => &["config"],
        "check" => &["olds", "news"],
        "diff" | "update" => &["id", "olds", "news"],
        "create" => &["props"],
        "find" => &["key", "props"],
        "read" | "delete" => &["id", "props"],
        _ => return None,
    })
}

/// Notes where an answer is not as logged. It may have more members than those that were logged.
fn compare(logged: &Json, actual: Option<&Json>, path: &str, lines: &mut Vec<String>) {
    let wrong = || {
        let at = if path.is_empty() { String::new() } else { format!("{path}: ") };
        let got = actual.map_or_else(|| "nothing".to_owned(), Json::to_string);
        format!("{at}expected {logged}, got {got}")
    };
    let is_same = match (logged, actual) {
        (Json::Null, None | Some(Json::Null)) => true,
        (Json::String(pattern), Some(_)) if [ANYTHING, SECRET_TEXT].contains(&pattern.as_str()) => true,
        (Json::String(pattern), Some(Json::String(text))) => fits(pattern, text),
        // A language may have written 1 as 1.0.
        (Json::Number(one), Some(Json::Number(other))) => one.as_f64() == other.as_f64(),
        (Json::Array(items), Some(Json::Array(others))) if items.len() == others.len() => {
            for (index, (item, other)) in items.iter().zip(others).enumerate() {
                compare(item, Some(other), &format!("{path}[{index}]"), lines);
            }
            true
        }
        (Json::Object(members), Some(Json::Object(others))) => {
            for (key, member) in members {
                let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                compare(member, others.get(key), &inner, lines);
            }
            true
        }
        (logged, actual) => actual == Some(logged),
    };
    if !is_same {
        lines.push(wrong());
    }
}

/// Is a text as logged?
fn fits(logged: &str, text: &str) -> bool {
    let logged = logged.replace(SECRET_TEXT, ANYTHING);
    let Some((first, rest)) = logged.split_once(ANYTHING) else { return logged == text };
    let Some(text) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = rest.split(ANYTHING).collect();
    let last = parts.pop().unwrap_or_default();
    let Some(mut text) = text.strip_suffix(last) else { return false };
    parts.into_iter().all(|part| match text.split_once(part) {
        Some((_, after)) => {
            text = after;
            true
        }
        None => false,
    })
}

fn shown(texts: &[String]) -> &str {
    texts.first().map_or("", String::as_str)
}

#[cfg(test)]
#[path = "logged_call_tests.rs"]
mod tests;
