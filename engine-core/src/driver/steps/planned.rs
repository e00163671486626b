//! Keeping a run within its plan (`--plan`).

use crate::plan::{RegistrationError, Step};
use crate::urn::Urn;
use crate::value::PropertyMap;

use crate::driver::answers::RpcError;
use crate::driver::context::Context;

impl Context {
    /// Refuses a step that was not planned, before anything of it is done.
    pub(in crate::driver) fn keep_to_plan(&self, step: &Step) -> Result<(), RpcError> {
        let Some(plan) = &self.operation.plan else { return Ok(()) };
        if step.urn.is_default_provider() {
            return Ok(());
        }
        self.run_state().planned.insert(step.urn.clone());
        self.refuse_violations(&step.urn, &plan.violations(step))
    }

    /// Refuses outputs of a component or of the stack that were not planned.
    pub(in crate::driver) fn keep_outputs_to_plan(
        &self,
        urn: &Urn,
        old: &PropertyMap,
        new: &PropertyMap,
    ) -> Result<(), RpcError> {
        match &self.operation.plan {
            Some(plan) => self.refuse_violations(urn, &plan.output_violations(urn, old, new)),
            None => Ok(()),
        }
    }

    fn refuse_violations(&self, urn: &Urn, violations: &[String]) -> Result<(), RpcError> {
        if violations.is_empty() {
            return Ok(());
        }
        Err(self.refuse(&RegistrationError::not_as_planned(urn, violations)))
    }

    /// Fails a run that ended without steps that were planned.
    pub(in crate::driver) fn miss_planned_steps(&self) {
        let Some(plan) = &self.operation.plan else { return };
        if self.stop.is_halted() || self.stop.failure().is_some() {
            return;
        }
        let missing: Vec<(Urn, String)> = {
            let run_state = self.run_state();
            let happened = |urn: &Urn| run_state.planned.contains(urn) || urn.is_default_provider();
            let exists = |urn: &Urn| run_state.planner.old_state(urn).is_some();
            plan.missing(happened, exists).map(|(urn, steps)| (urn.clone(), steps)).collect()
        };
        for (urn, steps) in missing {
            self.refuse(&RegistrationError::planned_steps_missing(&urn, &steps));
        }
    }
}
