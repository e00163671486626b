//! Resource states as steps make them.

use std::sync::Arc;

use crate::event::Op;
use crate::plan::{Step, copy_secrets, mark_outputs};
use crate::provider::PluginArguments;
use crate::provider::{ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::value::PropertyMap;

use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::steps::Outcomes;

impl Outcomes {
    /// Gives a resource the outputs that its provider told: secret is also what was secret in `like`.
    pub(crate) fn renew_outputs(&self, resource: &mut ResourceState, mut outputs: PropertyMap, like: &PropertyMap) {
        // A plugin says itself what is secret.
        if !resource.served_by().is_plugin() {
            copy_secrets(like, &mut outputs);
        }
        // A provider gives plain values back: only now is known which of them are secret.
        self.reports.learn_secrets_of(&outputs);
        resource.outputs = Some(Arc::new(outputs));
        mark_outputs(resource);
    }
}

/// Does the resource stand for an object that a provider can be asked about?
pub(crate) fn has_object(resource: &ResourceState) -> bool {
    resource.custom
        && resource.urn.provider_package().is_none()
        && !resource.pending_replacement
        && crate::builtin::has_outside(&resource.kind)
}

/// The state that a step leads to, with the id that it keeps.
pub(super) fn finished(step: &Step) -> Result<ResourceState, ProviderError> {
    let Some(new) = &step.new else {
        return Err(ProviderError::new(
            ProviderErrorKind::BadReturn,
            "a step without a resource; this is a bug in maloko",
        ));
    };
    Ok((**new).clone())
}

/// Notes when an object was made and changed.
pub(crate) fn stamp(op: Op, resource: &mut ResourceState, now: String) {
    if op != Op::Update || resource.created.is_empty() {
        resource.created.clone_from(&now);
    }
    resource.modified = now;
}

/// What a plugin is told beside the arguments of a call for a resource, by the state that the resource has and the one
/// that it gets; `None` where no plugin serves it.
pub(crate) fn plugin_arguments(
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
