//! Where a registration stops for policy packs: its inputs are final but for what they rewrite, and nothing is compared yet.

use std::sync::Arc;

use crate::plan::planner::Planner;
use crate::plan::registration::progress::Registration;
use crate::plan::secrecy::copy_secrets;
use crate::policy::{PolicyOptions, PolicyProvider, PolicyResource};
use crate::resource_state::ResourceState;
use crate::value::PropertyMap;

/// How a registration goes on once packs have seen its inputs.
#[derive(Clone, Copy, Debug)]
pub(super) enum AfterReview {
    /// They are compared with the old ones.
    Compare,
    /// It is a component.
    Component,
    /// It is a provider resource of a dynamic package.
    Provider,
    /// It is replaced: these are the inputs of the new object.
    Replace,
}

/// Have packs seen the registration?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReviewState {
    #[default]
    NotYet,
    /// They had nothing to rewrite.
    AsItWas,
    /// They rewrote the inputs.
    Rewritten,
}

/// What packs are to do with a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// Rewrite its inputs and look at them.
    Whole,
    /// Rewrite them as before, since they were checked anew. It was told of already.
    Again,
}

impl Planner {
    /// What packs are to do with a registration; `None`: nothing, or nothing any more.
    pub(super) fn wanted_review(&self, registration: &Registration) -> Option<Review> {
        match registration.reviewed {
            _ if !self.operation.policies.are_there() => None,
            ReviewState::NotYet => Some(Review::Whole),
            ReviewState::AsItWas => None,
            ReviewState::Rewritten => Some(Review::Again),
        }
    }

    /// The registration as policy packs see it. `provider` is the resource that its reference names.
    #[must_use]
    pub fn for_policies(&self, registration: &Registration, provider: Option<&ResourceState>) -> PolicyResource {
        let goal = &registration.goal;
        PolicyResource {
            urn: registration.urn.clone(),
            kind: goal.kind.clone(),
            properties: Arc::clone(&registration.checked),
            options: PolicyOptions {
                protect: goal.protect.unwrap_or(false),
                ignore_changes: goal.ignore_changes.clone(),
                delete_before_replace: goal.delete_before_replace,
                additional_secret_outputs: goal.additional_secret_outputs.clone(),
                aliases: self.former_urns(&registration.urn, goal),
                custom_timeouts: goal.custom_timeouts,
                parent: goal.parent.clone(),
            },
            provider: provider.map(PolicyProvider::from),
            ..PolicyResource::default()
        }
    }
}

impl Registration {
    /// Takes the inputs as policy packs leave them; `None`: they rewrote nothing.
    pub fn take_reviewed(&mut self, inputs: Option<Arc<PropertyMap>>) {
        match inputs {
            Some(inputs) => {
                self.checked = inputs;
                self.reviewed = ReviewState::Rewritten;
            }
            None if self.reviewed == ReviewState::NotYet => self.reviewed = ReviewState::AsItWas,
            None => {}
        }
    }
}

/// What a policy made of inputs: what was secret stays so, for packs see plain values.
#[must_use]
pub fn rewritten(before: &PropertyMap, mut after: PropertyMap) -> PropertyMap {
    copy_secrets(before, &mut after);
    after
}
