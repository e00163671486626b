//! Resource states as steps make them.

use std::sync::Arc;

use crate::event::Op;
use crate::plan::{Step, copy_secrets, mark_outputs};
use crate::provider::PluginArguments;
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::value::PropertyMap;

use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::context::Context;
use crate::driver::context::run_state::RunState;

impl Context {
    /// Gives a resource the outputs that its provider told: secret is also what was secret in `like`.
    pub(in crate::driver) fn renew_outputs(
        &self,
        resource: &mut ResourceState,
        mut outputs: PropertyMap,
        like: &PropertyMap,
    ) {
        // A plugin says itself what is secret.
        if !resource.served_by().is_plugin() {
            copy_secrets(like, &mut outputs);
        }
        // A provider gives plain values back: only now is known which of them are secret.
        self.learn_secrets_of(&outputs);
        resource.outputs = Some(Arc::new(outputs));
        mark_outputs(resource);
    }
}

/// Is the resource's object deleted already?
pub(in crate::driver) fn is_pending(run_state: &RunState, number: ResourceNumber) -> bool {
    run_state.ledger.get(number).is_some_and(|resource| resource.pending_replacement)
}

/// The state that a step leads to, with the id that it keeps.
pub(in crate::driver) fn finished(step: &Step) -> Result<ResourceState, ProviderError> {
    let Some(new) = &step.new else {
        return Err(ProviderError::new(
            ProviderErrorKind::BadReturn,
            "a step without a resource; this is a bug in maloko",
        ));
    };
    Ok((**new).clone())
}

/// Notes when an object was made and changed.
pub(in crate::driver) fn stamp(op: Op, resource: &mut ResourceState, now: String) {
    if op != Op::Update || resource.created.is_empty() {
        resource.created.clone_from(&now);
    }
    resource.modified = now;
}

/// What a plugin is told beside the arguments of a call for a resource, by the state that the resource has and the one
/// that it gets; `None` where no plugin serves it.
pub(in crate::driver) fn plugin_arguments(
    resolved: &ResolvedProvider,
    old: &ResourceState,
    new: &ResourceState,
    preview: bool,
) -> Option<PluginArguments> {
    resolved.is_plugin().then(|| PluginArguments {
        old_inputs: Some(Arc::clone(&old.inputs)),
        ignore_changes: new.ignore_changes.clone(),
        preview,
        ..PluginArguments::default()
    })
}
