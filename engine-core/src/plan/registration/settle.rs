//! Registrations that are settled without asking a provider: provider resources that a program makes itself for a dynamic
//! package, which are resources without an object (docs/rules 1.4), components, and what is no target (docs/rules 4.7).

use std::sync::Arc;

use crate::diff::{changed_keys, diff_properties, reset_ignored};
use crate::event::Op;
use crate::provider::DiffAnswer;
use crate::resource_state::ResourceState;
use crate::value::Value;

use crate::plan::diff_result::{DiffInputs, judge};
use crate::plan::planner::Planner;
use crate::plan::refusals::registration::RegistrationError;
use crate::plan::registration::progress::Registration;
use crate::plan::registration::question::Next;
use crate::plan::step::Step;

impl Planner {
    /// Takes the inputs of a provider resource as they are, but for what is ignored.
    pub(super) fn take_provider_inputs(registration: &mut Registration) {
        let mut inputs = registration.goal.inputs.clone();
        if !registration.goal.package_version.is_empty() {
            inputs
                .entry("version".to_owned())
                .or_insert_with(|| Value::from(registration.goal.package_version.as_str()));
        }
        if let Some(old) = registration.old_state() {
            registration.not_applicable = reset_ignored(&old.inputs, &mut inputs, &registration.goal.ignore_changes);
        }
        registration.checked = Arc::new(inputs);
    }

    /// Settles a provider resource without asking anyone, as packages' plugins would that compare nothing. Other inputs
    /// update it: its id stays, so that nothing is done to the resources that refer to it.
    pub(super) fn settle_provider(&mut self, registration: &mut Registration) -> Result<Next, RegistrationError> {
        let Some(old) = registration.old_state().cloned() else {
            return Ok(Next::Act(vec![registration.step(Op::Create, registration.new_state())]));
        };
        registration.diff_result = judge(
            &DiffAnswer::default(),
            &DiffInputs {
                old_inputs: &old.inputs,
                new_inputs: &registration.checked,
                ignore_changes: &[],
                replace_on_changes: &registration.goal.replace_on_changes,
                has_init_errors: false,
                renewed: false,
            },
        );
        let forced = self.is_forced(&registration.urn, &old);
        if forced.is_some() || registration.diff_result.replace || self.is_triggered(registration, &old)? {
            registration.note = forced.unwrap_or_default();
            registration.diff_result.changed = true;
            registration.diff_result.replace = true;
            self.object(self.guard_protected(registration, &old), &mut registration.complaints)?;
            return self.replace(registration);
        }
        let op = if registration.diff_result.changed { Op::Update } else { Op::Same };
        let (id, outputs) = (old.id.clone(), Some(Arc::clone(&registration.checked)));
        let resource = ResourceState { id, outputs, ..registration.new_state() };
        Ok(Next::Act(vec![registration.step(op, resource)]))
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
        let resource = if op == Op::Same { resource.shared_with(&old) } else { Arc::new(resource) };
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
