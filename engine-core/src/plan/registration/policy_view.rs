//! A registration as policy packs see it.

use std::sync::Arc;

use crate::plan::planner::Planner;
use crate::plan::registration::progress::Registration;
use crate::policy::{PolicyOptions, PolicyProvider, PolicyResource};
use crate::resource_state::ResourceState;

impl Planner {
    /// See the module's text. `provider` is the resource that its reference names.
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
