//! What laws and lifecycles ask of a stack beside operations: what the last operation came to, and changes of the state that no
//! operation makes. Hosts of provider objects hand it on, and plugins are judged by the same.

use std::collections::BTreeMap;

use maloko_core::error::{Error, Result};
use maloko_core::resource_state::ResourceState;
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{TestStack, locked};
use crate::laws::NAME;
use crate::plan::Entry;
use crate::plan_assertions::{is_change, with_marks};
use crate::report::Report;
use crate::run_request::Import;

/// What both bindings say before a warning of a result.
const NOTED: &str = "returned a value to look at";

/// One request.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum StackRequest {
    /// Keep a copy of the state. The answer is `null`; so for the next three.
    Save,
    /// Put the copy in the place of the state.
    Restore,
    /// Write the state as text, and read it again.
    Reload,
    /// Put a resource of a former release in the place of a law's resource.
    PutFormer { former: FormerState },
    /// Forget a resource, whose object stays. The answer is an [`Import`] of it.
    Forget { name: String },
    /// Say what the last operation came to, as laws take it: [`crate::RunOutcome`] without what the host alone knows.
    LawOutcome,
    /// The same for lifecycles: [`crate::LifeRunOutcome`].
    LifeOutcome,
}

/// What a former release left in a state.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FormerState {
    id: String,
    inputs: Json,
    outputs: Json,
}

fn unreadable(error: &serde_json::Error) -> Error {
    Error::Configuration(error.to_string().into())
}

impl TestStack {
    /// Does what a host hands on from a law or a lifecycle (JSON), and gives the answer.
    ///
    /// # Errors
    /// A request that cannot be read, and a state that cannot be read or written.
    pub async fn answer(&self, request: &str) -> Result<Json> {
        match serde_json::from_str(request).map_err(|error| unreadable(&error))? {
            StackRequest::Save => self.save().await.map(|()| Json::Null),
            StackRequest::Restore => self.restore_saved().await.map(|()| Json::Null),
            StackRequest::Reload => self.reload().await.map(|()| Json::Null),
            StackRequest::PutFormer { former } => self.put_former(former).await.map(|()| Json::Null),
            StackRequest::Forget { name } => self.forget(&name).await.map(|import| json!(import)),
            StackRequest::LawOutcome => self.law_outcome(self.last_report(false).as_deref()).await,
            StackRequest::LifeOutcome => self.life_outcome(self.last_report(false).as_deref()).await,
        }
    }

    pub(crate) async fn save(&self) -> Result<()> {
        let exported = self.export().await?;
        *locked(&self.saved) = exported;
        Ok(())
    }

    pub(crate) async fn restore_saved(&self) -> Result<()> {
        let saved = locked(&self.saved).clone();
        self.import(saved.as_bytes(), "the state that a law has saved").await
    }

    pub(crate) async fn reload(&self) -> Result<()> {
        self.import(self.export().await?.as_bytes(), "the state as text").await
    }

    /// Puts a resource of a former release in the place of a law's resource, in the state as it was saved, or is now.
    pub(crate) async fn put_former(&self, former: FormerState) -> Result<()> {
        if locked(&self.saved).is_empty() {
            self.save().await?;
        }
        let mut exported: Json = serde_json::from_str(&locked(&self.saved)).map_err(|error| unreadable(&error))?;
        let resources = exported["deployment"]["resources"].as_array_mut().into_iter().flatten();
        let ending = format!("::{NAME}");
        let is_it = |resource: &&mut Json| resource["urn"].as_str().is_some_and(|urn| urn.ends_with(&ending));
        if let Some(resource) = resources.into_iter().find(is_it) {
            // By this the state finds the provider's object: the former release had another one.
            let provider = resource["inputs"].get("__provider").cloned();
            for (member, mut values) in [("inputs", former.inputs), ("outputs", former.outputs)] {
                if let (Some(provider), Some(values)) = (&provider, values.as_object_mut()) {
                    values.insert("__provider".to_owned(), provider.clone());
                }
                resource[member] = values;
            }
            if !former.id.is_empty() {
                resource["id"] = former.id.into();
            }
        }
        self.import(exported.to_string().as_bytes(), "the state of the former release").await
    }

    /// Forgets a resource, whose object stays; gives what an import of it is told.
    pub(crate) async fn forget(&self, name: &str) -> Result<Import> {
        let mut snapshot = self.snapshot().await?;
        let is_it = |it: &ResourceState| it.urn.name() == name && !it.delete && !it.urn.is_root_stack();
        let missing = || Error::Configuration(format!("the state has no resource '{name}' to forget").into());
        let resource = snapshot.resources.iter().find(|it| is_it(it)).cloned().ok_or_else(missing)?;
        snapshot.resources.retain(|other| other.urn != resource.urn);
        self.replace(snapshot).await?;
        Ok(Import {
            urn: resource.urn.as_str().to_owned(),
            kind: resource.kind.clone(),
            parent: resource.parent.as_ref().map(|parent| parent.as_str().to_owned()),
            id: resource.id.clone(),
        })
    }

    /// What an operation came to, as laws take it; without its error, and without what was heard of the provider.
    pub(crate) async fn law_outcome(&self, report: Option<&Report>) -> Result<Json> {
        let mut outcome = json!({
            "resources": self.made().await?,
            "unkept": report.map(unkept),
            "noted": report.map(noted).unwrap_or_default(),
        });
        if let Some(entry) = report.and_then(|report| report.plan.iter().find(|entry| entry.name == NAME)) {
            outcome["step"] = step_of(entry);
        }
        Ok(outcome)
    }

    /// What an operation came to, as lifecycles take it; without its error. One that has no report was cut off before the state
    /// could be opened.
    pub(crate) async fn life_outcome(&self, report: Option<&Report>) -> Result<Json> {
        let mut outcome = report.map_or_else(|| json!({ "crashed": true }), told_of);
        let mut state = self.resources().await?;
        outcome["unresolved"] = json!(state["unresolvedCreates"].as_array().map_or(0, Vec::len));
        let resources = in_state(&mut state).map(|mut it| {
            json!({ "name": it["name"], "id": it["id"], "outputs": it["outputs"].take(), "waiting": it["delete"] })
        });
        outcome["resources"] = resources.collect();
        Ok(outcome)
    }

    /// The resources in the state by name, as laws take them.
    pub(crate) async fn made(&self) -> Result<Map<String, Json>> {
        let mut state = self.resources().await?;
        let living = in_state(&mut state).filter(|it| it["delete"] == false);
        let shown = living.filter_map(|mut it| {
            let name = it["name"].as_str()?.to_owned();
            Some((name, json!({ "id": it["id"], "outputs": it["outputs"].take(), "secret": it["secret"].take() })))
        });
        Ok(shown.collect())
    }
}

/// The resources in what [`TestStack::resources`] gives that have a provider.
fn in_state(state: &mut Json) -> impl Iterator<Item = Json> {
    let resources = state["resources"].as_array_mut().map(std::mem::take).unwrap_or_default();
    resources.into_iter().filter(|it| it["custom"] == true)
}

/// The changes in the order of their paths.
fn changes_of(entry: &Entry) -> Vec<Json> {
    let sorted: BTreeMap<&String, _> = entry.changes.iter().collect();
    let shown = |value: &Option<Json>| value.as_ref().map(with_marks);
    let told =
        sorted.into_iter().map(|(path, it)| json!({ "path": path, "old": shown(&it.old), "new": shown(&it.new) }));
    told.collect()
}

/// What a plan does to a resource ([`crate::PlannedStep`]).
pub(crate) fn step_of(entry: &Entry) -> Json {
    json!({
        "action": entry.action,
        "changes": changes_of(entry),
        "replaces": entry.replaces,
        "deleteBeforeReplace": entry.delete_before_replace,
    })
}

/// The result of a method that no state can keep.
fn unkept(report: &Report) -> Json {
    let mut errors = report.calls.iter().filter_map(|call| Some((call.method, call.error.as_ref()?)));
    let found = errors.find(|(_, error)| matches!(error.kind, "bad-return" | "unusable-outputs"));
    found.map_or(Json::Null, |(method, error)| json!({ "method": method, "error": error.message }))
}

/// What the host's language said of results that are kept in another form.
fn noted(report: &Report) -> Vec<&str> {
    let said = report.diagnostics.iter().map(|it| it.text.as_str());
    said.filter(|text| text.contains(NOTED)).collect()
}

fn told_of(report: &Report) -> Json {
    let has_failures = |result: &Json| result["failures"].as_array().is_some_and(|failures| !failures.is_empty());
    let refused =
        report.calls.iter().any(|call| call.method == "check" && call.result.as_ref().is_some_and(has_failures));
    let is_ours = |entry: &&Entry| entry.custom && !entry.kind.starts_with("pulumi:") && is_change(entry.action);
    let plan = report.plan.iter().filter(is_ours).map(|entry| {
        let Entry { name, urn, kind, parent, action, .. } = entry;
        json!({ "name": name, "urn": urn, "type": kind, "parent": parent, "action": action, "changes": changes_of(entry) })
    });
    json!({
        "refused": refused,
        "crashed": report.struck.is_some(),
        "lost": report.calls.iter().any(|call| call.faulted),
        "points": report.points.iter().map(|point| &point.label).collect::<Vec<_>>(),
        "plan": plan.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
#[path = "requests_tests.rs"]
mod tests;
