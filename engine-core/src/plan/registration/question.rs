//! What a registration takes next: the answer of a provider, or its steps.

use std::sync::Arc;

use crate::provider::Method;
use crate::resource_state::ResourceState;
use crate::urn::Urn;

use crate::plan::step::Step;

/// What the planner wants to know from a provider before it goes on.
#[derive(Clone, Debug)]
pub struct Question {
    /// Whose provider is asked; for a what-if question that of another resource.
    pub urn: Urn,
    /// The old row of another resource that is asked about; `None`: the registration's own provider.
    pub about: Option<Arc<ResourceState>>,
    /// The call.
    pub method: Method,
}

/// What is to be done next for a registration.
#[derive(Debug)]
pub enum Next {
    /// Ask a provider, then go on with its answer.
    Ask(Question),
    /// Take these steps, one after the other.
    Act(Vec<Step>),
}
