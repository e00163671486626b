//! The end of a test: everything that its stack made goes, and what may be left is named.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Host, Need, Resource, TaskEnd};
use crate::cloud::ledger;
use crate::cloud::unresolved::{self, UnresolvedCreateSummary};
use crate::report::Report;

/// How a stack is torn down.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TearDown {
    /// The stack's name, for messages.
    name: String,
    /// Where the stack is kept; `None` in memory, where nothing is known of creates whose outcome is unknown.
    ledger: Option<PathBuf>,
    /// Keys of unresolved creates of which the user says that it is known what became of their objects.
    #[serde(default)]
    settled: Vec<String>,
    /// What runs the sweep that settles them; it has `{keys}` where they go.
    #[serde(default)]
    command: String,
}

pub(super) async fn tear_down(host: &Host, settings: TearDown) -> TaskEnd {
    let unresolved = async || -> Vec<UnresolvedCreateSummary> {
        if settings.ledger.is_some() { host.exchange.ask(Need::Unresolved).await } else { Vec::new() }
    };
    let before = host.resources().await;
    let (mut deleted, mut forgotten, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    if !before.is_empty() || !unresolved().await.is_empty() {
        let order = json!({ "verb": "destroy", "continueOnError": true, "ignoreProtect": true, "aside": true });
        let (error, report) = host.attempt(order).await;
        let mut left = host.resources().await;
        left.retain(|resource| resource.custom);
        deleted = gone(&before, &left, report.as_deref());
        if error.is_some() || !left.is_empty() {
            let names: Vec<String> = left.iter().map(label).collect();
            let names = if names.is_empty() { "nothing in the state".to_owned() } else { names.join(", ") };
            let errors = error.into_iter().chain(report.iter().flat_map(|report| errors_of(report)));
            let mut why: Vec<String> = Vec::new();
            for error in errors {
                if !why.iter().any(|told| told.contains(&error) || error.contains(told)) {
                    why.push(error);
                }
            }
            let name = &settings.name;
            problems.push(format!("the stack '{name}' could not be torn down; left over: {names}. {}", why.join("; ")));
        }
        let calls =
            report.iter().flat_map(|report| &report.calls).map(unresolved::CallOutcome::from).collect::<Vec<_>>();
        let judged = unresolved::left(unresolved().await, &calls, &settings.settled, &settings.command);
        problems.extend(judged.text);
        let mut settled: Vec<String> = judged.forgotten.iter().map(|create| create.urn.clone()).collect();
        forgotten.extend(judged.forgotten.into_iter().map(|create| create.text));
        if problems.is_empty() {
            // Nothing is left of the others: a `find` has said so, or what it found is deleted.
            settled.extend(unresolved().await.into_iter().map(|create| create.urn));
        }
        if !settled.is_empty() {
            let () = host.exchange.ask(Need::Forget(settled)).await;
        }
    }
    problems.extend(settings.ledger.as_deref().into_iter().flat_map(ledger::set_aside));
    TaskEnd::Done { value: json!({ "deleted": deleted, "forgotten": forgotten, "problems": problems }) }
}

/// What was there, or was found, and is there no more. What `find` has found was not in the state before.
fn gone(before: &[Resource], left: &[Resource], report: Option<&Report>) -> Vec<String> {
    let stays = |resource: &&Resource| left.iter().any(|it| it.urn == resource.urn && it.id == resource.id);
    let mut deleted: Vec<String> =
        before.iter().filter(|resource| resource.custom && !stays(resource)).map(label).collect();
    let calls = report.into_iter().flat_map(|report| &report.calls);
    for call in calls.filter(|call| call.method == "delete" && call.error.is_none()) {
        let label = label_of(&call.name, &call.kind, call.arguments.get("id").and_then(Json::as_str).unwrap_or(""));
        if !deleted.contains(&label) {
            deleted.push(label);
        }
    }
    deleted
}

fn errors_of(report: &Report) -> impl Iterator<Item = String> {
    report.diagnostics.iter().filter(|message| message.severity == "error").map(|message| message.text.clone())
}

fn label(resource: &Resource) -> String {
    label_of(&resource.name, &resource.kind, &resource.id)
}

/// A resource as messages name it.
fn label_of(name: &str, kind: &str, id: &str) -> String {
    format!("'{name}' ({kind}, id '{id}')")
}
