//! Provider resources that a program makes itself for a dynamic package: rows without an object, to which dynamic
//! resources may refer (docs/rules 1.4).

use std::sync::Arc;

use crate::diff::{changed_keys, diff_properties};
use crate::event::Op;
use crate::provider::DYNAMIC_PACKAGES;
use crate::resource_state::ResourceState;
use crate::value::Value;

use crate::plan::goal::Goal;
use crate::plan::planner::Planner;
use crate::plan::registration::{Next, Registration};

/// The package that a goal's resource is the provider of, if it is one.
pub(in crate::plan) fn package_of_provider(goal: &Goal) -> Option<&str> {
    goal.kind.strip_prefix("pulumi:providers:").filter(|_| goal.custom)
}

/// Is it a provider resource of a dynamic package?
pub(in crate::plan) fn is_dynamic(goal: &Goal) -> bool {
    package_of_provider(goal).is_some_and(|package| DYNAMIC_PACKAGES.contains(&package))
}

impl Planner {
    /// Settles a provider resource without asking anyone. It is updated where its inputs changed and never replaced: its
    /// id stays, so that nothing is done to the resources that refer to it.
    pub(in crate::plan) fn settle_provider(&self, registration: &mut Registration) -> Next {
        let mut inputs = registration.goal.inputs.clone();
        if !registration.goal.package_version.is_empty() {
            inputs
                .entry("version".to_owned())
                .or_insert_with(|| Value::from(registration.goal.package_version.as_str()));
        }
        let inputs = Arc::new(inputs);
        registration.checked = Arc::clone(&inputs);
        let row = ResourceState { outputs: Some(Arc::clone(&inputs)), ..registration.new_row() };
        let Some((_, old)) = registration.old.clone() else {
            // In a preview nobody knows the id yet.
            let id = if self.operation.dry_run { String::new() } else { (self.new_id)() };
            return Next::Act(vec![registration.step(Op::Create, ResourceState { id, ..row })]);
        };
        let detailed = diff_properties(&old.outputs_or_empty(), &inputs);
        let op = if detailed.is_empty() { Op::Same } else { Op::Update };
        registration.diff_result.changed_keys = changed_keys(&detailed);
        registration.diff_result.detailed = (!detailed.is_empty()).then_some(detailed);
        Next::Act(vec![registration.step(op, ResourceState { id: old.id.clone(), ..row })])
    }
}
