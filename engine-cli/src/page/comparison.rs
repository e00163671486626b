//! Two states of a stack side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use maloko_core::event::{Op, StepMetadata};
use maloko_core::redaction::Redactor;
use maloko_core::resource_state::ResourceState;
use maloko_core::state::Snapshot;
use maloko_core::urn::Urn;

use super::data::{Comparison, PageData, Step};
use super::resources::Places;
use super::shown::{Detail, Shower};

/// Adds to the page of a state what differs from a former one, that of the generation `number`. What is no more comes
/// behind the resources, as gone.
pub(crate) fn compare(
    data: &mut PageData,
    former: &Snapshot,
    present: &Snapshot,
    number: u64,
    redactor: Arc<Redactor>,
) {
    let shower = Shower::new(redactor);
    former.resources.iter().for_each(|resource| shower.secrets().learn_resource(resource));
    let living = |snapshot: &Snapshot| -> BTreeMap<Urn, Arc<ResourceState>> {
        let resources = snapshot.resources.iter().filter(|resource| !resource.delete);
        resources.map(|resource| (resource.urn.clone(), Arc::clone(resource))).collect()
    };
    let (mut old, new) = (living(former), living(present));
    let mut steps = Vec::new();
    for (place, resource) in present.resources.iter().enumerate().filter(|(_, resource)| !resource.delete) {
        steps.extend(step(&shower, place, old.remove(&resource.urn), new.get(&resource.urn).cloned()));
    }
    for resource in former.resources.iter().filter(|resource| !resource.delete) {
        let Some(gone) = old.remove(&resource.urn) else { continue };
        let place = data.resources.len();
        data.resources.push(shower.resource(&gone, true, &Places::default(), Detail::Whole));
        steps.extend(step(&shower, place, Some(gone), None));
    }
    let from = format!("generation {number}");
    data.comparison = Some(Comparison { from, to: "now".to_owned(), steps });
}

/// How a resource differs; `None` where it does not.
fn step(
    shower: &Shower,
    resource: usize,
    old: Option<Arc<ResourceState>>,
    new: Option<Arc<ResourceState>>,
) -> Option<Step> {
    let urn = new.as_ref().or(old.as_ref())?.urn.clone();
    let op = match (&old, &new) {
        (Some(old), Some(new)) if old.inputs == new.inputs && old.outputs == new.outputs && old.id == new.id => {
            return None;
        }
        // What the provider returned differs where what the program asked for does not.
        (Some(old), Some(new)) if old.inputs == new.inputs => (Op::Refresh, "update"),
        (Some(_), Some(_)) => (Op::Update, "update"),
        (None, _) => (Op::Create, "create"),
        (_, None) => (Op::Delete, "delete"),
    };
    let metadata = StepMetadata {
        op: op.0,
        urn,
        old,
        new,
        keys: Vec::new(),
        diffs: Vec::new(),
        detailed_diff: None,
        internal: false,
        note: "",
    };
    let changes = shower.changes(&metadata);
    Some(Step { resource, op: op.1.to_owned(), status: "done".to_owned(), changes, ..Step::default() })
}

#[cfg(test)]
#[path = "comparison_tests.rs"]
mod tests;
