//! What a release of a provider left in a state, for the tests of later releases: Pulumi's deployment JSON without secrets. A
//! secret of the configuration stands there by its key (`[secret:token]`), so that today's takes its place.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use maloko_core::redaction::SECRET_TEXT;
use serde_json::{Map, Value as Json, json};

use super::{is_secret, read};
use crate::files::{self, PROVIDER};

/// What programs and providers gave. Resources refer to each other by the rest: by names and ids.
const GIVEN: [&str; 3] = ["inputs", "outputs", "initErrors"];

/// Writes an exported state to a file. `secrets`: those of the configuration by key; `known`: more texts that are secret.
pub(crate) fn save(
    file: &Path,
    deployment: &str,
    secrets: &BTreeMap<String, String>,
    known: Vec<String>,
) -> Result<(), String> {
    let state: Json = serde_json::from_str(deployment).map_err(|error| error.to_string())?;
    let named = secrets.iter().map(|(key, text)| (text.clone(), placeholder(key)));
    // A provider may have put a secret into a property that nobody marked.
    let others = known.into_iter().chain(files::secret_texts(&state)).map(|text| (text, SECRET_TEXT.to_owned()));
    let hidden: Vec<(String, String)> = named.chain(others).collect();
    let plain: BTreeMap<&str, &str> =
        hidden.iter().rev().map(|(text, hidden)| (text.as_str(), hidden.as_str())).collect();
    let hide = |plaintext: &str| {
        let text: Option<String> = serde_json::from_str(plaintext).ok();
        json!(text.as_deref().and_then(|text| plain.get(text)).unwrap_or(&SECRET_TEXT)).to_string()
    };
    let mut texts = Vec::new();
    let state = each_secret(state, &hide);
    let state = each_given(state, &mut |text| {
        texts.push(text.clone());
        text
    });
    let mut clean = files::redact(&hidden, texts, false).into_iter();
    let state = each_given(state, &mut |text| clean.next().unwrap_or(text));
    let written = || -> std::io::Result<()> {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(file, format!("{state:#}\n"))
    };
    written().map_err(|error| format!("the baseline {} cannot be written: {error}", file.display()))
}

/// The deployment of a file, with today's secrets.
pub(crate) fn restored(file: &Path, secrets: &BTreeMap<String, String>, how: &str) -> Result<String, String> {
    let state = read(file).map_err(|error| {
        format!("the baseline {} cannot be read: {error}; {how} writes one after `up`", file.display())
    })?;
    let show = |text: &str| {
        secrets.iter().fold(text.to_owned(), |text, (key, secret)| text.replace(&placeholder(key), secret))
    };
    let state = each_secret(state, &|plaintext| {
        let text: Option<String> = serde_json::from_str(plaintext).ok();
        text.map_or_else(|| plaintext.to_owned(), |text| json!(show(&text)).to_string())
    });
    Ok(each_given(state, &mut |text| show(&text)).to_string())
}

fn placeholder(key: &str) -> String {
    format!("[secret:{key}]")
}

/// A state with other texts in its secrets, and without what stands for provider objects.
fn each_secret(state: Json, change: &impl Fn(&str) -> String) -> Json {
    match state {
        Json::Object(mut members) if is_secret(&Json::Object(members.clone())) => {
            if let Some(Json::String(plaintext)) = members.get_mut("plaintext") {
                *plaintext = change(plaintext);
            }
            Json::Object(members)
        }
        Json::Object(members) => {
            let members = members.into_iter().filter(|(key, _)| key != PROVIDER);
            members.map(|(key, member)| (key, each_secret(member, change))).collect::<Map<_, _>>().into()
        }
        Json::Array(items) => items.into_iter().map(|item| each_secret(item, change)).collect(),
        other => other,
    }
}

/// A state with other texts in what programs and providers gave; secrets stay.
fn each_given(state: Json, change: &mut impl FnMut(String) -> String) -> Json {
    match state {
        Json::Object(members) => members
            .into_iter()
            .map(|(key, member)| {
                let member =
                    if GIVEN.contains(&key.as_str()) { each_text(member, change) } else { each_given(member, change) };
                (key, member)
            })
            .collect::<Map<_, _>>()
            .into(),
        Json::Array(items) => items.into_iter().map(|item| each_given(item, change)).collect(),
        other => other,
    }
}

fn each_text(value: Json, change: &mut impl FnMut(String) -> String) -> Json {
    match value {
        Json::String(text) => change(text).into(),
        secret if is_secret(&secret) => secret,
        Json::Array(items) => items.into_iter().map(|item| each_text(item, change)).collect(),
        Json::Object(members) => {
            members.into_iter().map(|(key, member)| (key, each_text(member, change))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

/// The resources that a former release left, for the law of releases: `[{ "id", "inputs", "outputs" }]`. `given`: a list of
/// them, an exported stack, or the file of either. `kind`: the type token of those that count; without it, all of dynamic
/// providers do.
pub(crate) fn former_resources(given: Json, kind: Option<&str>) -> Result<Json, String> {
    let (place, value) = match given {
        Json::String(file) => {
            let value =
                read(Path::new(&file)).map_err(|error| format!("the baseline {file} cannot be read: {error}"))?;
            (format!("the baseline {file}"), value)
        }
        value => ("`baseline`".to_owned(), value),
    };
    let mut state = &value;
    while let Some(inner @ Json::Object(_)) = state.get("deployment") {
        state = inner;
    }
    let counts = |resource: &&Json| {
        let found = resource["type"].as_str().unwrap_or("");
        resource["custom"] == true && kind.map_or_else(|| found.contains(":dynamic"), |kind| kind == found)
    };
    let resources: Vec<&Json> = match (state, &state["resources"]) {
        (Json::Array(all), _) => all.iter().collect(),
        (_, Json::Array(all)) => all.iter().filter(counts).collect(),
        _ => Vec::new(),
    };
    let found: Vec<Json> = resources.into_iter().filter_map(former).collect();
    if found.is_empty() {
        return Err(format!(
            "{place} has no resource of {}: give an exported deployment, or a list of resources with `id`, `inputs` and `outputs`",
            kind.unwrap_or("a dynamic provider")
        ));
    }
    Ok(found.into())
}

/// One without an id has the empty one: the law leaves the object the id that it has.
fn former(resource: &Json) -> Option<Json> {
    let id = match resource.get("id") {
        Some(Json::String(id)) => id.clone(),
        Some(Json::Number(id)) => id.to_string(),
        _ => String::new(),
    };
    let bag = |part: &str| -> Option<Json> {
        let members = resource.get(part)?.as_object()?.iter().filter(|(key, _)| !key.starts_with("__"));
        Some(members.map(|(key, member)| (key.clone(), member.clone())).collect::<Map<_, _>>().into())
    };
    Some(json!({ "id": id, "inputs": bag("inputs")?, "outputs": bag("outputs")? }))
}
