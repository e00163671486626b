//! How a registration ended.

use std::sync::Arc;

use crate::resource_state::ResourceState;

/// How a registration ended.
pub(crate) enum RegistrationOutcome {
    /// With this resource; component outputs are never handed back.
    Done(Arc<ResourceState>),
    /// The resource is not there in this run, and all of its outputs are unknown.
    Unknown,
    /// It failed, and the run goes on without it.
    Failed,
    /// Something that it needs failed.
    Skipped,
}
