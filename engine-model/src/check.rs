//! The checks behind the invariants.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use maloko_core::ResourceState;
use maloko_core::state::{PendingKind, Snapshot};

use crate::cloud::Cloud;
use crate::host::Call;
use crate::invariant::{BrokenInvariant, Invariant};
use crate::model::{Model, Record};
use crate::plugins::PREVIEW;
use crate::program::Step;
use crate::{show, urns};

/// What an operation did.
#[derive(Clone, Debug, Default)]
pub struct ObservedOperation {
    /// Was it a preview?
    pub dry_run: bool,
    /// Did it fail?
    pub failed: bool,
    /// Was an input unknown?
    pub met_unknown: bool,
    /// Steps while the program ran.
    pub steps: Vec<String>,
    /// Steps afterwards.
    pub late_steps: Vec<String>,
    /// Calls while the program ran.
    pub calls: Vec<Call>,
    /// Calls afterwards.
    pub late_calls: Vec<Call>,
    /// What was said.
    pub messages: Vec<String>,
    /// The resources afterwards.
    pub resources: Vec<Record>,
    /// What exists afterwards.
    pub cloud: Cloud,
}

/// Sound in itself: in order, without dangling references, no URN twice.
pub fn state_valid(resources: &[Arc<ResourceState>]) -> Result<(), BrokenInvariant> {
    let broken = |details: String| Err(BrokenInvariant::new(Invariant::StateValid, details));
    let mut earlier: HashSet<String> = HashSet::new();
    let mut living: HashSet<String> = HashSet::new();
    let mut providers: HashSet<String> = HashSet::new();
    for resource in resources {
        let record = Record::of(resource);
        let provider = record.provider_urn().filter(|_| record.pending);
        let mut references = record.references().filter(|urn| Some(*urn) != provider);
        if let Some(missing) = references.find(|urn| !earlier.contains(*urn)) {
            return broken(format!("{} refers to {missing}, which does not come before it", record.urn));
        }
        let is_provider = urns::is_provider(&record.urn);
        // What was deleted before its replacement may have had a provider that is gone by now.
        if record.custom && !is_provider && !record.pending && !providers.contains(&resource.provider) {
            return broken(format!("the provider of {} does not come before it", record.urn));
        }
        if is_provider {
            providers.insert(format!("{}::{}", record.urn, record.id));
        }
        if !record.delete && !living.insert(record.urn.clone()) {
            return broken(format!("{} is there twice", record.urn));
        }
        drop(references);
        earlier.insert(record.urn);
    }
    Ok(())
}

/// Creates and updates after those of what they refer to; deletions before those of what they refer to.
pub fn order_of_calls(before: &[Record], observed: &ObservedOperation) -> Result<(), BrokenInvariant> {
    let calls: Vec<&Call> = observed.calls.iter().chain(&observed.late_calls).collect();
    let broken = |first: &Call, second: &Call| {
        let details = format!("{} began before the end of {}", second.text, first.text);
        Err(BrokenInvariant::new(Invariant::OrderOfCalls, details))
    };
    let changes = |urn: &str| -> Vec<&&Call> {
        calls.iter().filter(|call| call.urn == urn && (call.method == "create" || call.method == "update")).collect()
    };
    for record in observed.resources.iter().filter(|record| !record.delete) {
        // After a failure the resource still says what the object depended on before.
        for call in changes(&record.urn).into_iter().filter(|call| call.succeeded) {
            for needed in record.references().flat_map(&changes) {
                if needed.span.1 > call.span.0 {
                    return broken(needed, call);
                }
            }
        }
    }
    deletions_in_order(before, &observed.calls)?;
    deletions_in_order(before, &observed.late_calls)
}

fn deletions_in_order(before: &[Record], calls: &[Call]) -> Result<(), BrokenInvariant> {
    let deletions: BTreeMap<&str, &Call> =
        calls.iter().filter(|call| call.method == "delete").map(|call| (call.id.as_str(), call)).collect();
    for (index, record) in before.iter().enumerate().filter(|(_, record)| !record.external) {
        let Some(dependent) = deletions.get(record.id.as_str()) else { continue };
        for urn in record.references() {
            for other in before[..index].iter().filter(|other| other.urn == *urn && !other.external) {
                // Who merely depends on what is deleted before its replacement waits (docs/rules 4.2). Its own registration
                // may have it deleted later on; by then the deletions that came together are over.
                let apart = |needed: &Call| {
                    let between = |call: &&Call| call.span.0 > needed.span.1 && call.span.1 < dependent.span.0;
                    calls.iter().filter(between).any(|call| call.method != "delete")
                };
                if let Some(needed) = deletions.get(other.id.as_str())
                    && dependent.span.1 > needed.span.0
                    && !apart(needed)
                {
                    let details = format!("{} began before the end of {}", needed.text, dependent.text);
                    return Err(BrokenInvariant::new(Invariant::OrderOfCalls, details));
                }
            }
        }
    }
    Ok(())
}

/// No orphan, no duplicate.
pub fn world(before: &Cloud, observed: &ObservedOperation, let_go: &BTreeSet<String>) -> Result<(), BrokenInvariant> {
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for record in observed.resources.iter().filter(|record| record.custom && !record.external && !record.pending) {
        if !urns::is_provider(&record.urn) && !named.insert(&record.id) {
            return Err(BrokenInvariant::new(
                Invariant::NoDuplicate,
                format!("{} is named by two resources", record.id),
            ));
        }
    }
    let external: BTreeSet<&str> =
        observed.resources.iter().filter(|record| record.external).map(|record| record.id.as_str()).collect();
    for (id, object) in &observed.cloud.objects {
        if !named.contains(id.as_str()) && !let_go.contains(id) && !external.contains(id.as_str()) {
            let whose = &object.name;
            let known = if before.objects.contains_key(id) { "" } else { ", which this run made," };
            return Err(BrokenInvariant::new(
                Invariant::NoOrphan,
                format!("{id} of {whose}{known} is not in the state"),
            ));
        }
    }
    Ok(())
}

fn differ(invariant: Invariant, wanted: &[String], found: &[String]) -> Result<(), BrokenInvariant> {
    if wanted == found {
        return Ok(());
    }
    let list = |items: &[String]| items.iter().fold(String::new(), |text, item| text + "    " + item + "\n");
    Err(BrokenInvariant::new(
        invariant,
        format!("  the model wants:\n{}  the engine has:\n{}", list(wanted), list(found)),
    ))
}

fn sorted(mut items: Vec<String>) -> Vec<String> {
    items.sort();
    items
}

/// The operation does what the model does.
pub fn steps_and_calls(model: &Model<'_>, observed: &ObservedOperation) -> Result<(), BrokenInvariant> {
    let texts = |calls: &[Call]| calls.iter().map(|call| call.text.clone()).collect::<Vec<_>>();
    differ(Invariant::Calls, &model.calls, &texts(&observed.calls))?;
    differ(Invariant::Steps, &model.steps, &observed.steps)?;
    let open = |text: &String| {
        model.open.iter().any(|record| {
            let name = show::name(&record.urn);
            text.ends_with(&format!(" {name} {}", record.id))
                || text.starts_with(&format!("{name}.delete {} ", record.id))
        })
    };
    let closed = |texts: Vec<String>| sorted(texts.into_iter().filter(|text| !open(text)).collect());
    differ(Invariant::Calls, &closed(model.late_calls.clone()), &closed(texts(&observed.late_calls)))?;
    differ(Invariant::Steps, &closed(model.late_steps.clone()), &closed(observed.late_steps.clone()))?;
    if model.failed != observed.failed {
        let details = format!("failed: the model says {}; messages: {:?}", model.failed, observed.messages);
        return Err(BrokenInvariant::new(Invariant::Outcome, details));
    }
    Ok(())
}

/// The resources and the objects are the model's.
pub fn resources_and_cloud(model: &Model<'_>, observed: &ObservedOperation) -> Result<(), BrokenInvariant> {
    let relevant = |record: &&Record| !urns::is_dynamic_provider(&record.urn);
    let text = |record: &Record| {
        let mut record = record.clone();
        if record.urn == urns::stack() {
            // The stack's outputs are compared apart.
            record.outputs.clear();
        }
        record.text()
    };
    let wanted = sorted(model.resources().filter(relevant).map(text).collect());
    let found = sorted(observed.resources.iter().filter(relevant).map(text).collect());
    differ(Invariant::Resources, &wanted, &found)?;
    if model.cloud != observed.cloud {
        let objects =
            |cloud: &Cloud| cloud.objects.iter().map(|(id, object)| format!("{id} {object:?}")).collect::<Vec<_>>();
        return differ(Invariant::World, &objects(&model.cloud), &objects(&observed.cloud));
    }
    Ok(())
}

/// The stack's outputs are the model's.
pub fn outputs(model: &Model<'_>, found: &BTreeMap<String, String>) -> Result<(), BrokenInvariant> {
    if model.outputs == *found {
        return Ok(());
    }
    Err(BrokenInvariant::new(
        Invariant::Outputs,
        format!("the model wants {:?}, the engine has {found:?}", model.outputs),
    ))
}

/// The pending operations are the creates that may have happened; unresolved creates are these, and those that raised.
pub fn pending(
    unresolved_creates: &BTreeSet<String>,
    raised: &BTreeSet<String>,
    snapshot: &Snapshot,
) -> Result<(), BrokenInvariant> {
    let found: BTreeSet<String> = snapshot
        .pending
        .iter()
        .filter(|pending| pending.kind == PendingKind::Creating)
        .map(|pending| pending.resource.urn.to_string())
        .collect();
    if *unresolved_creates != found {
        return Err(BrokenInvariant::new(
            Invariant::Pending,
            format!("the model wants {unresolved_creates:?}, the engine has {found:?}"),
        ));
    }
    let wanted: BTreeSet<String> = unresolved_creates.union(raised).cloned().collect();
    let recorded: BTreeSet<String> =
        snapshot.unresolved_creates.iter().map(|unresolved| unresolved.urn().to_string()).collect();
    if wanted == recorded {
        return Ok(());
    }
    let text = format!("the model wants the unresolved creates {wanted:?}, the engine has {recorded:?}");
    Err(BrokenInvariant::new(Invariant::Pending, text))
}

/// A preview changes nothing.
pub fn preview_is_harmless(before: &Cloud, observed: &ObservedOperation) -> Result<(), BrokenInvariant> {
    let allowed = ["configure", "check", "diff", "read"];
    let calls = observed.calls.iter().chain(&observed.late_calls);
    // Plugins are told that it is a preview.
    let allowed = |call: &Call| allowed.contains(&call.method) || call.text.contains(PREVIEW);
    if let Some(call) = calls.into_iter().find(|call| !allowed(call)) {
        return Err(BrokenInvariant::new(Invariant::PreviewHarmless, call.text.clone()));
    }
    if *before != observed.cloud {
        return Err(BrokenInvariant::new(Invariant::PreviewHarmless, "the world changed"));
    }
    Ok(())
}

fn all_steps(observed: &ObservedOperation) -> Vec<String> {
    let late = observed.late_steps.iter().map(|step| step.trim_end_matches(|c: char| c != ' ').trim_end().to_owned());
    sorted(observed.steps.iter().cloned().chain(late).collect())
}

/// Does an operation do at least as much to a resource as the preview said?
fn weight(op: &str) -> u8 {
    match op {
        "same" | "read" => 0,
        "update" => 1,
        _ => 2,
    }
}

/// A preview that met no unknown says what happens; one that did says at least that, save for deletions in a run that
/// excludes resources: where it took an update for a replacement, an excluded old object would have kept what it needs.
pub fn foresight(
    step: &Step,
    foreseen: &ObservedOperation,
    happened: &ObservedOperation,
) -> Result<(), BrokenInvariant> {
    let (announced, done) = (all_steps(foreseen), all_steps(happened));
    if !foreseen.met_unknown {
        return differ(Invariant::PreviewTrue, &announced, &done);
    }
    let mut said: BTreeMap<&str, u8> = BTreeMap::new();
    for (op, name) in announced.iter().filter_map(|step| step.split_once(' ')) {
        let known = said.entry(name).or_default();
        *known = (*known).max(weight(op));
    }
    for (op, name) in done.iter().filter_map(|step| step.split_once(' ')) {
        let spared = matches!(op, "delete" | "delete-replaced") && !step.excludes.is_empty();
        if !spared && weight(op) > said.get(name).copied().unwrap_or_default() {
            return Err(BrokenInvariant::new(Invariant::PreviewTrue, format!("{op} {name} was not announced")));
        }
    }
    Ok(())
}

/// Nothing is left to do.
pub fn does_nothing(second: &ObservedOperation) -> Result<(), BrokenInvariant> {
    let idle = |step: &&String| !step.starts_with("same ") && !step.starts_with("read ");
    match second.steps.iter().chain(&second.late_steps).find(idle) {
        None => Ok(()),
        Some(step) => Err(BrokenInvariant::new(Invariant::Settled, format!("a second up would do: {step}"))),
    }
}
