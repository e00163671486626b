//! Objects that are taken over by their ids.

use std::collections::BTreeSet;

use maloko_core::redaction::SECRET_TEXT;
use serde_json::{Map, Value as Json, json};

use super::{EarlyEnd, Host, Resource, broken, import_of};
use crate::plan_assertions::{self, Step, shown};

/// Takes an object over.
pub(super) async fn import(host: &Host, name: &str, id: &str) -> Result<(), EarlyEnd> {
    let planned = host.run(json!({ "verb": "up", "preview": true, "aside": true })).await?;
    let Some(entry) = planned.plan.iter().find(|entry| entry.key == name || entry.name == name) else {
        let known: Vec<&str> = planned.plan.iter().map(|entry| entry.key.as_str()).collect();
        return Err(broken(format!(
            "the program registers no resource '{name}' that could be imported; those that it registers: {}",
            listed(&known)
        )));
    };
    let imports = import_of(&entry.urn, &entry.kind, entry.parent.as_deref(), id);
    host.run(json!({ "verb": "import", "imports": imports })).await.map(drop)
}

/// Imports the object of a resource into a copy of the stack that does not know it, and compares.
pub(super) async fn import_cleanly(host: &Host, name: &str, ignore: &[String]) -> Result<(), EarlyEnd> {
    let before = resource(host, name).await?;
    host.copy(&[&before.urn], None).await;
    let imports = import_of(&before.urn, &before.kind, before.parent.as_deref(), &before.id);
    let order = json!({ "verb": "import", "imports": imports, "aside": true, "copy": true });
    if let (Some(error), _) = host.attempt(order).await {
        let text = format!("'{name}' cannot be imported by its id '{}': {error}", before.id);
        return Err(EarlyEnd::Broken { text, caused: true });
    }
    let mut lines = Vec::new();
    match host.copied_resources().await.into_iter().find(|resource| resource.urn == before.urn && !resource.delete) {
        None => lines.push("it is not in the state when imported".to_owned()),
        Some(taken) => {
            if taken.id != before.id {
                lines.push(format!("id: '{}' when imported, '{}' in the state", taken.id, before.id));
            }
            let secret: Vec<String> = before.secret.iter().chain(&taken.secret).cloned().collect();
            for (part, old, now) in
                [("inputs", &before.inputs, &taken.inputs), ("outputs", &before.outputs, &taken.outputs)]
            {
                lines.extend(differences(part, (old, now), ignore, &secret));
            }
        }
    }
    let order = json!({ "verb": "up", "preview": true, "aside": true, "copy": true, "targets": [before.urn.as_str()] });
    let planned = host.run(order).await?;
    if let Some(entry) = planned.plan.iter().find(|entry| entry.urn == before.urn) {
        let mut step = Step::from(entry);
        let all = step.count();
        step.keep(|path| !is_listed(path, ignore));
        if plan_assertions::is_change(entry.action) && (step.count() > 0 || all == 0) {
            lines.push(format!("the next `up` would {}", plan_assertions::text(&[step])));
        }
    }
    if lines.is_empty() {
        return Ok(());
    }
    Err(broken(format!(
        "'{name}' does not import cleanly:\n{}\n`read` is called with the id alone: let it return all outputs, and as its inputs \
         what a program would write; or name in `ignore` what cannot be read",
        plan_assertions::indented(&lines.join("\n"))
    )))
}

async fn resource(host: &Host, name: &str) -> Result<Resource, EarlyEnd> {
    let mut all: Vec<Resource> = host.resources().await;
    all.retain(|resource| !resource.delete);
    let names: Vec<&str> = all.iter().map(|resource| resource.name.as_str()).collect();
    let missing = || broken(format!("the state has no resource '{name}'; those that it has: {}", listed(&names)));
    all.iter().find(|resource| resource.name == name).cloned().ok_or_else(missing)
}

/// A line for each property that is not the same, by its part of the state. What is secret is not shown.
fn differences(
    part: &str,
    (old, now): (&Map<String, Json>, &Map<String, Json>),
    ignore: &[String],
    secret: &[String],
) -> Vec<String> {
    let keys: BTreeSet<&String> = old.keys().chain(now.keys()).collect();
    keys.into_iter()
        .filter(|key| !key.starts_with("__") && !is_listed(key, ignore) && old.get(*key) != now.get(*key))
        .map(|key| {
            let hidden = secret.iter().any(|path| is_listed(path, std::slice::from_ref(key)));
            let [was, is] = [old, now].map(|it| match it.get(key) {
                Some(_) if hidden => SECRET_TEXT.to_owned(),
                value => shown(value),
            });
            format!("{part}.{key}: {is} when imported, {was} in the state")
        })
        .collect()
}

/// Is a property named, or what it is below?
fn is_listed(path: &str, listed: &[String]) -> bool {
    let below = |name: &String| {
        path.strip_prefix(name.as_str()).is_some_and(|rest| matches!(rest.chars().next(), None | Some('.' | '[')))
    };
    listed.iter().any(below)
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
