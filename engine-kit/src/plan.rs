//! Steps as tests compare them: one entry for each resource.

use std::collections::{BTreeSet, HashMap};

use indexmap::IndexMap;
use maloko_core::diff::diff_properties;
use maloko_core::event::{DetailedDiff, Op, StepMetadata};
use maloko_core::redaction::Redactor;
use maloko_core::resource_state::ResourceState;
use maloko_core::value::Value;
use maloko_core::{PropertyMap, Urn};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::json::{self, Secrets};
use crate::step_log::Stage;

/// What becomes, or became, of a resource.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// What it is called in this plan: its name, or `type::name` where two resources have one name.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Its type token.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its URN.
    pub urn: String,
    /// Its parent's URN; `None` without one.
    pub parent: Option<String>,
    /// `same`, `create`, `update`, `replace`, `delete`, `read`, `import` or another op's name.
    pub action: &'static str,
    /// The steps' ops, in order.
    pub ops: Vec<&'static str>,
    /// What differs, by property path.
    #[serde(serialize_with = "in_order")]
    pub changes: IndexMap<String, Change>,
    /// The properties that are the reason of a replacement.
    pub replaces: Vec<String>,
    /// The paths of inputs that are not known yet.
    pub unknown: Vec<String>,
    /// The paths of inputs and outputs that are secret.
    pub secret: Vec<String>,
    /// Does, in a replacement, the old object go before the new one is made?
    pub delete_before_replace: bool,
    /// The object's id after the step; empty when it has none or it is not known.
    pub id: String,
    /// The object's id before the step.
    pub old_id: String,
    /// The inputs, without what is secret.
    pub inputs: Json,
    /// Did a step fail?
    pub failed: bool,
    /// Was a step begun, and not ended?
    pub open: bool,
    /// Has it a provider?
    pub custom: bool,
}

fn in_order<S: Serializer>(changes: &IndexMap<String, Change>, into: S) -> Result<S::Ok, S::Error> {
    into.collect_map(changes)
}

/// How a property differs.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// `add`, `delete`, `update`, with `-replace` where it needs a replacement.
    pub kind: &'static str,
    /// The value before; secrets are hidden. `None` where the property is added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Json>,
    /// The value after; `None` where the property goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Json>,
}

impl Entry {
    /// A resource to which nothing is done.
    fn untouched(urn: &Urn, parent: Option<&Urn>, custom: bool) -> Self {
        Self {
            key: urn.name().to_owned(),
            name: urn.name().to_owned(),
            kind: urn.own_type().to_owned(),
            urn: urn.as_str().to_owned(),
            parent: parent.map(|urn| urn.as_str().to_owned()),
            action: "same",
            ops: Vec::new(),
            changes: IndexMap::new(),
            replaces: Vec::new(),
            unknown: Vec::new(),
            secret: Vec::new(),
            delete_before_replace: false,
            id: String::new(),
            old_id: String::new(),
            inputs: Json::Null,
            failed: false,
            open: false,
            custom,
        }
    }

    /// What is done to a resource of a provider; nothing of it differs.
    #[cfg(test)]
    pub(crate) fn for_tests(urn: &str, action: &'static str) -> Self {
        Self { action, ..Self::untouched(&Urn::unchecked(urn), None, true) }
    }
}

/// The entries of an operation's steps, in the order of the first step of each.
pub(crate) fn entries(steps: &[(Stage, StepMetadata)], redactor: &Redactor) -> Vec<Entry> {
    let mut entries: IndexMap<Urn, EntryBuilder> = IndexMap::new();
    for (stage, step) in steps.iter().filter(|(_, step)| !step.urn.is_root_stack() && !is_default_provider(step)) {
        let entry = entries.entry(step.urn.clone()).or_insert_with(|| EntryBuilder::new(step));
        entry.take(*stage, step, redactor);
    }
    let mut entries: Vec<Entry> = entries.into_values().map(EntryBuilder::finish).collect();
    name_apart(&mut entries);
    entries
}

/// Is it the provider of a package that the engine registers by itself? A program's own has a parent.
fn is_default_provider(step: &StepMetadata) -> bool {
    let resource = step.new.as_ref().or(step.old.as_ref());
    step.urn.provider_package().is_some() && resource.is_none_or(|resource| resource.parent.is_none())
}

/// Gives every entry a key of its own. Entries that stay the same count as well, so that a key does not depend on what changes.
fn name_apart(entries: &mut [Entry]) {
    let mut names: HashMap<String, usize> = HashMap::new();
    for entry in entries.iter() {
        *names.entry(entry.name.clone()).or_default() += 1;
    }
    for entry in entries.iter_mut().filter(|entry| names.get(&entry.name).is_some_and(|count| *count > 1)) {
        entry.key = format!("{}::{}", entry.kind, entry.name);
    }
}

struct EntryBuilder {
    entry: Entry,
    ops: Vec<Op>,
    /// What a refresh found.
    drift: &'static str,
    begun: usize,
    ended: usize,
}

impl EntryBuilder {
    fn new(step: &StepMetadata) -> Self {
        let resource = step.new.as_ref().or(step.old.as_ref());
        let parent = resource.and_then(|resource| resource.parent.as_ref());
        let entry = Entry::untouched(&step.urn, parent, resource.is_some_and(|resource| resource.custom));
        Self { entry, ops: Vec::new(), drift: "same", begun: 0, ended: 0 }
    }

    fn take(&mut self, stage: Stage, step: &StepMetadata, redactor: &Redactor) {
        match stage {
            Stage::Begun => {
                self.begun += 1;
                self.ops.push(step.precise_op());
            }
            Stage::Done => self.ended += 1,
            Stage::Failed => {
                self.ended += 1;
                self.entry.failed = true;
            }
        }
        if stage == Stage::Begun && !step.op.is_logical() && step.op == Op::DeleteReplaced {
            return;
        }
        if step.op == Op::Refresh && stage == Stage::Done {
            self.drift = match step.note {
                "" => "same",
                note => note,
            };
        }
        let entry = &mut self.entry;
        if let Some(old) = &step.old {
            entry.old_id.clone_from(&old.id);
        }
        if let Some(new) = step.new.as_ref().filter(|_| step.op != Op::DeleteReplaced) {
            entry.id.clone_from(&new.id);
            entry.inputs = json::properties(&new.inputs, Secrets::Hidden(redactor));
            entry.unknown = json::paths(&new.inputs, &|value| matches!(value, Value::Unknown));
            entry.secret = secret_paths(new);
        }
        merge(&mut entry.replaces, &step.keys);
        if let (Some(old), Some(new)) = (&step.old, &step.new)
            && !matches!(step.op, Op::Same | Op::Delete | Op::DeleteReplaced)
        {
            for (path, change) in changes(step, old, new, redactor) {
                entry.changes.entry(path).or_insert(change);
            }
        }
    }

    fn finish(mut self) -> Entry {
        let position = |op: Op| self.ops.iter().position(|other| *other == op);
        let entry = &mut self.entry;
        entry.delete_before_replace = position(Op::DeleteReplaced)
            .or_else(|| position(Op::RetainReplaced))
            .is_some_and(|gone| position(Op::CreateReplacement).is_none_or(|made| gone < made));
        entry.open = self.begun > self.ended;
        entry.ops = self.ops.iter().map(|op| op.name()).collect();
        entry.action = action(&self.ops, self.drift);
        if entry.action == "same" {
            entry.changes.clear();
        }
        self.entry
    }
}

fn action(ops: &[Op], drift: &'static str) -> &'static str {
    let replaces = |op: &Op| {
        matches!(
            op,
            Op::Replace
                | Op::CreateReplacement
                | Op::DeleteReplaced
                | Op::RetainReplaced
                | Op::ImportReplacement
                | Op::ReadReplacement
        )
    };
    if ops.iter().any(replaces) {
        return "replace";
    }
    let telling = ops.iter().find(|op| !matches!(op, Op::Same | Op::Refresh));
    telling.map_or(drift, |op| op.name())
}

/// Adds what is not among `known` yet, in the order of `more`.
pub(crate) fn merge(known: &mut Vec<String>, more: &[String]) {
    let seen: BTreeSet<String> = known.iter().cloned().collect();
    known.extend(more.iter().filter(|key| !seen.contains(*key)).cloned());
}

/// The paths of what is secret in a resource.
pub(crate) fn secret_paths(resource: &ResourceState) -> Vec<String> {
    let none = PropertyMap::new();
    let outputs = resource.outputs.as_deref().unwrap_or(&none);
    let mut paths = json::paths(&resource.inputs, &Value::is_secret);
    let more = json::paths(outputs, &Value::is_secret);
    merge(&mut paths, &more);
    paths
}

fn changes(
    step: &StepMetadata,
    old: &ResourceState,
    new: &ResourceState,
    redactor: &Redactor,
) -> Vec<(String, Change)> {
    let structural = || {
        let diff = diff_properties(&old.inputs, &new.inputs);
        if !diff.is_empty() {
            return diff;
        }
        // The inputs are as they were: then it is the outputs, as a provider's `diff` gets them, that do not fit them.
        let outputs = old.outputs_or_empty();
        let known = outputs.iter().filter(|(key, _)| new.inputs.contains_key(*key));
        let known: PropertyMap = known.map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut diff = diff_properties(&known, &new.inputs);
        for how in diff.values_mut() {
            how.input_diff = false;
        }
        diff
    };
    let diff: DetailedDiff = step.detailed_diff.clone().filter(|diff| !diff.is_empty()).unwrap_or_else(structural);
    let outputs = (old.outputs_or_empty(), new.outputs_or_empty());
    let show = |value: Option<&Value>| value.map_or(Json::Null, |value| json::value(value, Secrets::Hidden(redactor)));
    let mut found = Vec::with_capacity(diff.len());
    for (path, how) in &diff {
        let before = if how.input_diff { json::at(&old.inputs, path) } else { None };
        let after = if step.op == Op::Refresh { json::at(&outputs.1, path) } else { json::at(&new.inputs, path) };
        let (before, after) = (before.or_else(|| json::at(&outputs.0, path)), after);
        let kind = how.kind.name();
        let old = if kind.starts_with("add") { None } else { Some(show(before)) };
        let new = if kind.starts_with("delete") { None } else { Some(show(after)) };
        found.push((path.clone(), Change { kind, old, new }));
    }
    found
}
