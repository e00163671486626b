//! The file that holds an update plan, in the shape that Pulumi gives it: secrets are encrypted with the stack's key.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use crate::autonaming::Seed;
use crate::error::{Error, Result};
use crate::event::Op;
use crate::message;
use crate::message::Command;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use crate::state::Crypter;
use crate::state::format::{Encoder, SecretText, StateValue};
use crate::state::snapshot::unsealing::unseal_map;

use super::{PlannedGoal, PlannedResource, PropertyChange, UpdatePlan};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlanFile {
    manifest: Manifest,
    #[serde(default)]
    config: BTreeMap<String, Json>,
    /// What automatic names are drawn from: bytes; Pulumi keeps one for each resource.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seed: Option<Seed>,
    #[serde(default)]
    resource_plans: BTreeMap<Urn, ResourceFile>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Manifest {
    time: String,
    magic: String,
    version: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ResourceFile {
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<GoalFile>,
    steps: Vec<String>,
    /// Only of components and the stack.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_diff: Option<ChangeFile>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GoalFile {
    r#type: String,
    name: String,
    input_diff: ChangeFile,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<Urn>,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<Urn>,
    protect: bool,
    retain_on_delete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_with: Option<Urn>,
    dependencies: Vec<Urn>,
    ignore_changes: Vec<String>,
    additional_secret_outputs: Vec<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    id: String,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct ChangeFile {
    #[serde(skip_serializing_if = "Map::is_empty")]
    adds: Map<String, Json>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deletes: Vec<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    updates: Map<String, Json>,
}

/// The text of a plan's file. `time` is when it was made, RFC 3339.
pub fn encode_plan(plan: &UpdatePlan, crypter: &Crypter, time: &str) -> Result<String> {
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    let magic = crate::digest::sha256_hex(version.as_bytes());
    let mut file = PlanFile {
        manifest: Manifest { time: time.to_owned(), magic, version: version.to_owned() },
        config: BTreeMap::new(),
        seed: plan.seed,
        resource_plans: BTreeMap::new(),
    };
    for (key, (text, secret)) in &plan.config {
        let value = if *secret { json!({ "secure": &*crypter.encrypt(text)? }) } else { json!(text) };
        file.config.insert(key.clone(), value);
    }
    for (urn, planned) in &plan.resources {
        let goal = planned.goal.as_ref().map(|goal| encode_goal(urn, goal, crypter)).transpose()?;
        let output_diff = planned.outputs.as_ref().map(|change| encode_change(change, crypter)).transpose()?;
        let steps = planned.steps.iter().map(|op| op.name().to_owned()).collect();
        file.resource_plans.insert(urn.clone(), ResourceFile { goal, steps, output_diff });
    }
    serde_json::to_string_pretty(&file)
        .map(|text| text + "\n")
        .map_err(|error| Error::BadState(format!("the plan cannot be written: {error}").into()))
}

/// Reads a plan's file. `place` names it in errors.
pub fn decode_plan(bytes: &[u8], crypter: &Crypter, place: &str) -> Result<UpdatePlan> {
    let file: PlanFile = serde_json::from_slice(bytes).map_err(|error| {
        Error::Configuration(message![
            format!("{place} is no update plan ({error}); make one with "),
            Command::new("preview").with("--save-plan FILE")
        ])
    })?;
    let mut plan = UpdatePlan { seed: file.seed, ..UpdatePlan::default() };
    for (key, value) in file.config {
        let entry = match value.get("secure").and_then(Json::as_str) {
            Some(ciphertext) => (crypter.decrypt(ciphertext)?.to_string(), true),
            None => (value.as_str().map_or_else(|| value.to_string(), str::to_owned), false),
        };
        plan.config.insert(key, entry);
    }
    for (urn, resource) in file.resource_plans {
        let steps = resource.steps.iter().map(|name| {
            Op::named(name).ok_or_else(|| {
                Error::Configuration(
                    format!("{place}: the resource {urn} has the step '{name}', which this version does not know")
                        .into(),
                )
            })
        });
        let steps = steps.collect::<Result<_>>()?;
        let goal = resource.goal.map(|goal| decode_goal(goal, crypter)).transpose()?;
        let outputs = resource.output_diff.map(|change| decode_change(change, crypter)).transpose()?;
        plan.resources.insert(urn, PlannedResource { steps, goal, outputs });
    }
    Ok(plan)
}

fn encode_goal(urn: &Urn, goal: &PlannedGoal, crypter: &Crypter) -> Result<GoalFile> {
    Ok(GoalFile {
        r#type: urn.own_type().to_owned(),
        name: urn.name().to_owned(),
        input_diff: encode_change(&goal.inputs, crypter)?,
        parent: goal.parent.clone(),
        provider: goal.provider.clone(),
        protect: goal.protect,
        retain_on_delete: goal.retain_on_delete,
        deleted_with: goal.deleted_with.clone(),
        dependencies: goal.dependencies.iter().cloned().collect(),
        ignore_changes: goal.ignore_changes.clone(),
        additional_secret_outputs: goal.additional_secret_outputs.clone(),
        id: goal.import_id.clone(),
    })
}

fn decode_goal(goal: GoalFile, crypter: &Crypter) -> Result<PlannedGoal> {
    Ok(PlannedGoal {
        parent: goal.parent,
        provider: goal.provider,
        protect: goal.protect,
        retain_on_delete: goal.retain_on_delete,
        deleted_with: goal.deleted_with,
        dependencies: goal.dependencies.into_iter().collect(),
        ignore_changes: goal.ignore_changes,
        additional_secret_outputs: goal.additional_secret_outputs,
        import_id: goal.id,
        inputs: decode_change(goal.input_diff, crypter)?,
    })
}

fn encode_change(change: &PropertyChange, crypter: &Crypter) -> Result<ChangeFile> {
    Ok(ChangeFile {
        adds: encode_map(&change.adds, crypter)?,
        deletes: change.deletes.iter().cloned().collect(),
        updates: encode_map(&change.updates, crypter)?,
    })
}

fn decode_change(change: ChangeFile, crypter: &Crypter) -> Result<PropertyChange> {
    Ok(PropertyChange {
        adds: decode_map(change.adds, crypter)?,
        deletes: change.deletes.into_iter().collect(),
        updates: decode_map(change.updates, crypter)?,
    })
}

fn encode_map(map: &PropertyMap, crypter: &Crypter) -> Result<Map<String, Json>> {
    let encode = |(key, value): (&String, &Value)| {
        let mut encoder = Encoder::new(Vec::new(), Some(crypter), SecretText::Cipher);
        encoder.value(value)?;
        Ok((key.clone(), parsed(&encoder.into_bytes())?))
    };
    map.iter().map(encode).collect()
}

fn decode_map(map: Map<String, Json>, crypter: &Crypter) -> Result<PropertyMap> {
    let mut properties = PropertyMap::new();
    for (key, json) in map {
        let StateValue(value) = serde_json::from_value(json).map_err(|error| unreadable(&error))?;
        properties.insert(key, value);
    }
    unseal_map(&mut properties, crypter)?;
    Ok(properties)
}

fn parsed(bytes: &[u8]) -> Result<Json> {
    serde_json::from_slice(bytes).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::BadState(format!("a value of the plan cannot be read: {error}").into())
}

/// A value as messages show it: JSON of a line, shortened; secrets are hidden.
#[must_use]
pub fn shown_value(value: &Value) -> String {
    const MAX_LENGTH: usize = 60;
    if value.contains_secret() {
        return "[secret]".to_owned();
    }
    if matches!(value, Value::Unknown) {
        return "[not known yet]".to_owned();
    }
    let mut encoder = Encoder::new(Vec::new(), None, SecretText::Cipher);
    if encoder.value(value).is_err() {
        return "a value that cannot be shown".to_owned();
    }
    let text = String::from_utf8_lossy(&encoder.into_bytes()).into_owned();
    match text.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
