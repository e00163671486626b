//! A unit of work that the planner hands to the driver.

use std::sync::Arc;

use crate::event::{DetailedDiff, Op, StepMetadata};
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::urn::Urn;

/// The note of an update or replacement whose only reason is that the provider's code is to be applied anew.
pub(super) const RENEWED: &str = "provider code";

/// One step on one resource.
#[derive(Clone, Debug)]
pub struct Step {
    /// What to do.
    pub op: Op,
    /// To which resource.
    pub urn: Urn,
    /// The state that it starts from.
    pub old: Option<(ResourceNumber, Arc<ResourceState>)>,
    /// The state that it leads to; outputs and id are filled in by the driver.
    pub new: Option<Arc<ResourceState>>,
    /// Keys that are the reason of a replacement.
    pub keys: Vec<String>,
    /// Keys that changed.
    pub diffs: Vec<String>,
    /// How the properties differ, where the engine compared.
    pub detailed_diff: Option<DetailedDiff>,
    /// For `delete-replaced` before the replacement is made: keep the resource, marked, until it is.
    pub keep_until_replaced: bool,
    /// Outputs that an update leaves alone.
    pub stables: Vec<String>,
    /// Why, in a word; empty in general.
    pub note: &'static str,
}

impl Step {
    /// A step without diff.
    #[must_use]
    pub fn new(
        op: Op,
        urn: &Urn,
        old: Option<(ResourceNumber, Arc<ResourceState>)>,
        new: Option<Arc<ResourceState>>,
    ) -> Self {
        Self {
            op,
            urn: urn.clone(),
            old,
            new,
            keys: Vec::new(),
            diffs: Vec::new(),
            detailed_diff: None,
            keep_until_replaced: false,
            stables: Vec::new(),
            note: "",
        }
    }

    /// The step as watchers see it, with the state that it led to so far.
    #[must_use]
    pub fn metadata(&self, new: Option<Arc<ResourceState>>) -> StepMetadata {
        StepMetadata {
            op: self.op,
            urn: self.urn.clone(),
            old: self.old.as_ref().map(|(_, resource)| Arc::clone(resource)),
            new,
            keys: self.keys.clone(),
            diffs: self.diffs.clone(),
            detailed_diff: self.detailed_diff.clone(),
            internal: self.urn.is_default_provider(),
            note: self.note,
        }
    }
}
