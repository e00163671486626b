//! Registrations that are settled without asking a provider: provider resources that a program makes itself for a dynamic
//! package, which are resources without an object (docs/rules 1.4), components, and what is no target (docs/rules 4.7).

use std::sync::Arc;

use crate::diff::{changed_keys, diff_properties};
use crate::event::Op;
use crate::resource_state::ResourceState;
use crate::value::Value;

use crate::plan::planner::Planner;
use crate::plan::registration::advance::shared_with;
use crate::plan::registration::progress::Registration;
use crate::plan::registration::question::Next;
use crate::plan::step::Step;

impl Planner {
    /// Settles a provider resource without asking anyone. It is updated where its inputs changed and never replaced: its
    /// id stays, so that nothing is done to the resources that refer to it.
    pub(super) fn settle_provider(&self, registration: &mut Registration) -> Next {
        let mut inputs = registration.goal.inputs.clone();
        if !registration.goal.package_version.is_empty() {
            inputs
                .entry("version".to_owned())
                .or_insert_with(|| Value::from(registration.goal.package_version.as_str()));
        }
        let inputs = Arc::new(inputs);
        registration.checked = Arc::clone(&inputs);
        let resource = ResourceState { outputs: Some(Arc::clone(&inputs)), ..registration.new_state() };
        let Some((_, old)) = registration.old.clone() else {
            // In a preview nobody knows the id yet.
            let id = if self.operation.dry_run { String::new() } else { (self.new_id)() };
            return Next::Act(vec![registration.step(Op::Create, ResourceState { id, ..resource })]);
        };
        let detailed = diff_properties(&old.outputs_or_empty(), &inputs);
        let op = if detailed.is_empty() { Op::Same } else { Op::Update };
        registration.diff_result.changed_keys = changed_keys(&detailed);
        registration.diff_result.detailed = (!detailed.is_empty()).then_some(detailed);
        Next::Act(vec![registration.step(op, ResourceState { id: old.id.clone(), ..resource })])
    }

    /// Settles a component, which has no object.
    pub(super) fn settle_component(&mut self, registration: &mut Registration) -> Next {
        let Some((number, old)) = registration.old.clone() else {
            return Next::Act(vec![registration.step(Op::Create, registration.new_state())]);
        };
        let mut resource = registration.new_state();
        if old.custom {
            // A custom resource that became a component: the object is replaced by nothing but the resource's state.
            self.replaced.insert(registration.urn.clone());
            registration.diff_result.replace_keys = vec!["provider".to_owned()];
            let create = registration.step(Op::CreateReplacement, resource);
            let replace = Step { op: Op::Replace, ..create.clone() };
            self.handled.insert(number);
            return Next::Act(vec![create, replace]);
        }
        resource.outputs.clone_from(&old.outputs);
        let detailed = diff_properties(&old.inputs, &resource.inputs);
        let op = if detailed.is_empty() { Op::Same } else { Op::Update };
        registration.diff_result.changed_keys = changed_keys(&detailed);
        registration.diff_result.detailed = (!detailed.is_empty()).then_some(detailed);
        let resource = if op == Op::Same { shared_with(resource, &old) } else { Arc::new(resource) };
        Next::Act(vec![registration.step(op, resource)])
    }

    /// The step of a resource that is no target: its state stays as it is; a new one is left out and counts as the
    /// same.
    pub(super) fn leave_untouched(&self, registration: &Registration) -> Vec<Step> {
        // Under a former URN it takes the new one: the program, and whoever refers to it, knows no other. One that a
        // cascade of this run has deleted still waits for its replacement.
        let lost = registration.old.as_ref().is_some_and(|(number, _)| self.deleted_first.contains(number));
        let renamed = |old: &Arc<ResourceState>| ResourceState {
            urn: registration.urn.clone(),
            kind: registration.goal.kind.clone(),
            pending_replacement: lost || old.pending_replacement,
            ..(**old).clone()
        };
        let resource = registration.old_state().map(renamed);
        let resource = resource.unwrap_or_else(|| ResourceState {
            urn: registration.urn.clone(),
            custom: registration.goal.custom,
            ..registration.new_state()
        });
        vec![registration.step(Op::Same, resource)]
    }
}
