//! Update plans: what a preview said would be done, kept in a file for the run that is held to it.
//!
//! Inputs and outputs are kept as differences from the old resource state. The planner compares a run with its plan
//! ([`crate::plan`]).

mod file;

use std::collections::{BTreeMap, BTreeSet};

use crate::autonaming::Seed;
use crate::event::Op;
use crate::urn::Urn;
use crate::value::PropertyMap;

pub use file::{decode_plan, encode_plan, shown_value};

/// What was planned for a stack.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdatePlan {
    /// The configuration that the plan was made with: values as text, and whether they are secret.
    pub config: BTreeMap<String, (String, bool)>,
    /// What its automatic names were drawn from.
    pub seed: Option<Seed>,
    /// What was planned for each resource.
    pub resources: BTreeMap<Urn, PlannedResource>,
}

/// What was planned for one resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedResource {
    /// Its steps in order.
    pub steps: Vec<Op>,
    /// What it was to become; `None` where it was only to be deleted.
    pub goal: Option<PlannedGoal>,
    /// Outputs of a component or of the stack.
    pub outputs: Option<PropertyChange>,
}

/// What a resource was to become.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlannedGoal {
    /// The parent.
    pub parent: Option<Urn>,
    /// The provider's URN; its id may be made by the run.
    pub provider: Option<Urn>,
    /// The option `protect`.
    pub protect: bool,
    /// The option `retainOnDelete`.
    pub retain_on_delete: bool,
    /// The option `deletedWith`.
    pub deleted_with: Option<Urn>,
    /// What it depends on.
    pub dependencies: BTreeSet<Urn>,
    /// The option `ignoreChanges`.
    pub ignore_changes: Vec<String>,
    /// The option `additionalSecretOutputs`.
    pub additional_secret_outputs: Vec<String>,
    /// The id of an import.
    pub import_id: String,
    /// How its inputs were to change.
    pub inputs: PropertyChange,
}

/// How properties change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PropertyChange {
    /// New properties.
    pub adds: PropertyMap,
    /// Properties that go.
    pub deletes: BTreeSet<String>,
    /// Properties with another value.
    pub updates: PropertyMap,
}

impl PropertyChange {
    /// The difference between two sets of properties.
    #[must_use]
    pub fn between(old: &PropertyMap, new: &PropertyMap) -> Self {
        let mut change = Self::default();
        for (key, value) in new {
            match old.get(key) {
                None => drop(change.adds.insert(key.clone(), value.clone())),
                Some(before) if before != value => drop(change.updates.insert(key.clone(), value.clone())),
                Some(_) => {}
            }
        }
        change.deletes = old.keys().filter(|key| !new.contains_key(*key)).cloned().collect();
        change
    }
}
