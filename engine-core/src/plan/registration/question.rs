//! What a registration takes next: the answer of a provider, or its steps.

use std::sync::Arc;

use crate::provider::Method;
use crate::provider::PluginArguments;
use crate::resource_state::ResourceState;
use crate::urn::Urn;

use crate::plan::registration::review::Review;
use crate::plan::step::Step;

/// What the planner wants to know from a provider before it goes on.
#[derive(Clone, Debug)]
pub struct Question {
    /// Whose provider is asked; for a what-if question that of another resource.
    pub urn: Urn,
    /// The old state of another resource that is asked about; `None`: the registration's own provider.
    pub about: Option<Arc<ResourceState>>,
    /// The call.
    pub method: Method,
    /// What a plugin is told beside that.
    pub for_plugin: Option<Box<PluginArguments>>,
    /// Is it about the provider resource and not about the resource? Its plugin is asked whether the change from this
    /// other provider resource, by its reference, needs a replacement.
    pub instead_of: Option<String>,
}

impl Question {
    /// About the resource that is registered.
    pub(in crate::plan) fn own(urn: &Urn, method: Method) -> Self {
        Self { urn: urn.clone(), about: None, method, for_plugin: None, instead_of: None }
    }
}

/// What is to be done next for a registration.
#[derive(Debug)]
pub enum Next {
    /// Ask a provider, then go on with its answer.
    Ask(Question),
    /// Have policy packs look at the inputs, then go on with what they leave ([`Registration::take_reviewed`]).
    ///
    /// [`Registration::take_reviewed`]: crate::plan::Registration::take_reviewed
    Review(Review),
    /// Take these steps, one after the other.
    Act(Vec<Step>),
}
