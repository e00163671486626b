//! The calls that were given up and may still be answered.

use std::collections::HashMap;
use std::sync::Arc;

use crate::plan::Step;
use crate::provider::{Answer, Method, ProviderError};
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::value::PropertyMap;

use crate::driver::calls::shown_assets::shown_assets;

/// What a late answer leads to.
#[derive(Clone)]
pub(crate) enum LateOutcome {
    /// The resource state that a create or update leads to.
    Change { step: Step, resource: Arc<ResourceState>, operation: u32 },
    /// The end of a resource.
    Deletion { step: Step, number: ResourceNumber, operation: u32 },
}

/// A call whose answer may still come.
pub(crate) struct LateAnswer {
    pub(crate) method: &'static str,
    pub(crate) shown: Vec<PropertyMap>,
    pub(crate) outcome: LateOutcome,
}

impl LateAnswer {
    pub(crate) fn of(method: &Method, outcome: LateOutcome) -> Self {
        Self { method: method.name(), shown: shown_assets(method), outcome }
    }
}

/// The calls that were given up, by number, and the answers that came before that was noted.
#[derive(Default)]
pub(crate) struct LateCalls {
    pub(crate) expected: HashMap<u64, LateAnswer>,
    pub(crate) early: HashMap<u64, Result<Answer, ProviderError>>,
}
