//! What must hold after a step, and the words for what does not.

use std::collections::BTreeSet;

use serde_json::{Value as Json, json};

use super::exchange::{
    DirectCallOutcome, LifeEnd, LifeOperation, LifePlannedStep, LifeResource, LifeRunOutcome, StepResult,
};
use super::model::Model;
use crate::laws::{DeployedResource, SecretValues, Words, first_difference_of, is_listed, rather_plain, show};

/// Who deploys while somebody else does is told so by the engine in these words.
const LOCKED: &str = "is locked by";

fn broken(property: &str, expected: impl Into<String>, found: impl Into<String>) -> LifeEnd {
    let (expected, found) = (expected.into(), found.into());
    let words = Words { property: property.to_owned(), expected, found, advice: String::new() };
    LifeEnd::Broken { words, caused: false }
}

fn caused(end: LifeEnd) -> LifeEnd {
    match end {
        LifeEnd::Broken { words, .. } => LifeEnd::Broken { words, caused: true },
        other @ LifeEnd::Holds => other,
    }
}

/// An operation failed.
pub(super) fn failed(what: &str, ran: &LifeRunOutcome) -> LifeEnd {
    let error = ran.error.as_deref().unwrap_or_default();
    caused(broken(what, "it to succeed", format!("an error: {error}")))
}

/// A call of the provider without an engine.
pub(super) fn call(what: &str, asked: &DirectCallOutcome) -> StepResult {
    match &asked.error {
        Some(error) => Err(caused(broken(what, "it to succeed", format!("an error: {error}")))),
        None => Ok(()),
    }
}

/// A preview says what an `up` does.
pub(super) fn preview(model: &mut Model, ran: &LifeRunOutcome) -> StepResult {
    if model.uncertain {
        return Ok(());
    }
    let kept: BTreeSet<&String> = model.state.keys().filter(|name| !model.lost.contains(*name)).collect();
    let all: BTreeSet<&String> = model.program.keys().chain(kept.iter().copied()).collect();
    for name in all {
        let action = ran.plan.iter().find(|it| it.name == *name).map(|it| it.action.as_str());
        let expected = match (kept.contains(name), model.program.contains_key(name)) {
            (false, _) => Some("create"),
            (true, false) => Some("delete"),
            (true, true) => None,
        };
        let is_right = match expected {
            Some(expected) => action == Some(expected),
            None => !matches!(action, Some("create" | "delete")),
        };
        if !is_right {
            let expected = expected.map_or("an update, a replacement or nothing", |it| it);
            return Err(broken(&format!("preview of {name}"), expected, plan_text(&ran.plan, &[], &mut model.hidden)));
        }
    }
    Ok(())
}

/// A preview changes nothing.
pub(super) fn unchanged(
    resources: &[LifeResource],
    resources_then: &[LifeResource],
    world: &Json,
    world_then: &Json,
) -> StepResult {
    if world != world_then {
        let expected = format!("the world to be as it was: {}", show(world));
        return Err(broken("preview", expected, show(world_then)));
    }
    if resources != resources_then {
        let ids = |resources: &[LifeResource]| {
            show(&resources.iter().map(|resource| json!({ "name": resource.name, "id": resource.id })).collect())
        };
        let expected = format!("the state to be as it was: {}", ids(resources));
        return Err(broken("preview", expected, format!("another one: {}", ids(resources_then))));
    }
    Ok(())
}

/// An `up` leaves nothing to be done.
pub(super) fn settled(what: &str, operation: LifeOperation, ran: &LifeRunOutcome, model: &mut Model) -> StepResult {
    let volatile = &model.subject.volatile;
    let counts = |it: &&LifePlannedStep| {
        it.changes.is_empty() || it.changes.iter().any(|change| !is_listed(&change.path, volatile))
    };
    let left: Vec<LifePlannedStep> = ran.plan.iter().filter(counts).cloned().collect();
    if left.is_empty() {
        return Ok(());
    }
    let refreshed = operation == LifeOperation::RefreshedPreview;
    let next = if refreshed { "the next up with a refresh" } else { "the next up" };
    Err(broken(
        what,
        "nothing to be left to do",
        format!("{next} would {}", plan_text(&left, volatile, &mut model.hidden)),
    ))
}

fn plan_text(plan: &[LifePlannedStep], volatile: &[String], hidden: &mut SecretValues) -> String {
    let mut shown = |path: &str, value: Option<&Json>| hidden.shown_at(path, value);
    let told = plan.iter().map(|it| {
        let changes: Vec<String> = it
            .changes
            .iter()
            .filter(|change| !is_listed(&change.path, volatile))
            .map(|it| {
                format!("{}: {} => {}", it.path, shown(&it.path, it.old.as_ref()), shown(&it.path, it.new.as_ref()))
            })
            .collect();
        let changes = if changes.is_empty() { String::new() } else { format!(" ({})", changes.join(", ")) };
        format!("{} {}{changes}", it.action, it.name)
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { "nothing".to_owned() } else { told.join(", ") }
}

/// Two writers do not deploy on one stack at once.
pub(super) fn two_writers(ran: &LifeRunOutcome) -> StepResult {
    let Some(meanwhile) = &ran.meanwhile else { return Ok(()) };
    if meanwhile.error.as_ref().is_some_and(|error| error.contains(LOCKED)) {
        return Ok(());
    }
    let expected = "who deploys while somebody else does to be told who that is";
    Err(broken("second_writer", expected, meanwhile.error.as_deref().unwrap_or("that both have deployed")))
}

/// The state is as the steps say, and the world as the state says.
pub(super) fn holds(what: &str, model: &Model, there: Option<Vec<String>>) -> StepResult {
    let label = |resource: &LifeResource| format!("{} ({})", resource.name, resource.id);
    let waiting: Vec<String> = model.resources.iter().filter(|resource| resource.waiting).map(label).collect();
    if !waiting.is_empty() {
        return Err(broken(what, "nothing to wait for its deletion", waiting.join(", ")));
    }
    let mut names: Vec<&str> = model.resources.iter().map(|resource| resource.name.as_str()).collect();
    names.sort_unstable();
    let expected: Vec<&str> = model.state.keys().map(String::as_str).collect();
    let listed = |names: &[&str]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    if names != expected {
        return Err(broken(what, format!("the state to have {}", listed(&expected)), listed(&names)));
    }
    let Some(there) = there else { return Ok(()) };
    let none = BTreeSet::new();
    let foreign = model.foreign.as_ref().unwrap_or(&none);
    let there: Vec<&str> = there.iter().filter(|id| !foreign.contains(*id)).map(String::as_str).collect();
    let resources: Vec<&LifeResource> =
        model.resources.iter().filter(|resource| !model.lost.contains(&resource.name)).collect();
    let known = show(&resources.iter().map(|resource| json!({ "name": resource.name, "id": resource.id })).collect());
    let orphans: Vec<&str> =
        there.iter().filter(|id| resources.iter().all(|resource| resource.id != **id)).copied().collect();
    // What a create left whose answer was lost, and that the program no longer wants, is an unresolved create.
    if orphans.len() > model.unresolved {
        let found = format!("{} beside {known}", orphans.join(", "));
        return Err(broken(what, "no object that the stack does not know", found));
    }
    if let Some(resource) = resources.iter().find(|resource| !there.contains(&resource.id.as_str())) {
        let expected = format!("the object {} of {} to be there", show(&json!(resource.id)), resource.name);
        return Err(broken(what, expected, show(&json!(there))));
    }
    let ids: BTreeSet<&str> = resources.iter().map(|resource| resource.id.as_str()).collect();
    if ids.len() < resources.len() {
        return Err(broken(what, "an object for each resource", known));
    }
    Ok(())
}

/// What creates left whose answers were lost: as many objects as there are such creates, at most.
pub(super) fn strays(model: &Model, there: &[String]) -> StepResult<Vec<String>> {
    let is_known = |id: &String| {
        model.foreign.as_ref().is_some_and(|foreign| foreign.contains(id))
            || model.resources.iter().any(|resource| resource.id == *id)
    };
    let strays: Vec<String> = there.iter().filter(|id| !is_known(id)).cloned().collect();
    if strays.len() <= model.unresolved {
        return Ok(strays);
    }
    let expected = format!("at most {} of creates whose outcome is unknown", model.unresolved);
    Err(broken("objects that the stack does not know", expected, strays.join(", ")))
}

/// What became of a resource is as a create of the same inputs makes it.
pub(super) fn as_created(
    name: &str,
    afresh: &DeployedResource,
    made: &DeployedResource,
    model: &mut Model,
) -> StepResult {
    let Model { subject, hidden, .. } = model;
    let find = |listed: &[String]| first_difference_of(afresh, made, listed);
    let Some(difference) = rather_plain(&subject.volatile, &subject.secret, find) else { return Ok(()) };
    let mut shown = |value: Option<&Json>| hidden.shown_at(&difference.path, value);
    let expected = format!("{}, as a create of the same inputs makes it", shown(difference.expected.as_ref()));
    let found = format!("{} at the end of the lifecycle", shown(difference.found.as_ref()));
    Err(broken(&format!("{} of {name}", difference.path), expected, found))
}
