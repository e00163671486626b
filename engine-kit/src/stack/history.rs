//! What resources were in the course of a test.

use std::collections::BTreeMap;
use std::sync::Arc;

use maloko_core::event::{Op, StepMetadata};
use maloko_core::resource_state::ResourceState;
use serde_json::{Value as Json, json};

use crate::json::{self, Secrets};
use crate::plan::Entry;
use crate::step_log::Stage;

/// The histories of a stack's resources, by their names.
#[derive(Default)]
pub(crate) struct Histories(BTreeMap<String, History>);

#[derive(Default)]
struct History {
    /// What operations did to it.
    actions: Vec<&'static str>,
    /// What steps have made of it.
    states: Vec<Arc<ResourceState>>,
}

impl Histories {
    /// Adds an operation.
    pub(crate) fn learn(&mut self, steps: &[(Stage, StepMetadata)], plan: &[Entry]) {
        for entry in plan.iter().filter(|entry| entry.action != "same" && !entry.failed) {
            self.0.entry(entry.name.clone()).or_default().actions.push(entry.action);
        }
        for (stage, step) in steps.iter().filter(|(_, step)| !step.urn.is_root_stack()) {
            let kept = step.new.as_ref().filter(|_| *stage == Stage::Done && step.op != Op::DeleteReplaced);
            if let Some(state) = kept.filter(|state| !state.id.is_empty()) {
                self.0.entry(step.urn.name().to_owned()).or_default().states.push(Arc::clone(state));
            }
        }
    }

    /// What a resource was: each id once that it had, its outputs after each operation that changed them, and what was done to
    /// it, all in order.
    pub(crate) fn of(&self, name: &str) -> Json {
        let Some(History { actions, states }) = self.0.get(name) else {
            return json!({ "ids": [], "actions": [], "outputs": [] });
        };
        let mut ids: Vec<&str> = states.iter().map(|state| state.id.as_str()).collect();
        ids.dedup();
        let mut outputs: Vec<Json> =
            states.iter().map(|state| json::properties(&state.outputs_or_empty(), Secrets::Open)).collect();
        outputs.dedup();
        json!({ "ids": ids, "actions": actions, "outputs": outputs })
    }
}
