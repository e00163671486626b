//! Keeping a run within its plan (`--plan`).

use std::sync::Arc;

use atomic_refcell::AtomicRefCell;

use crate::operation::Operation;
use crate::plan::{RegistrationError, Step};
use crate::urn::Urn;
use crate::urn::UrnSet;
use crate::value::PropertyMap;

use crate::driver::answers::RpcError;
use crate::driver::planning::Planning;
use crate::driver::reports::Reports;
use crate::driver::stop::Stop;

/// Keeps a run within its plan.
pub(crate) struct PlanKeeping {
    operation: Arc<Operation>,
    stop: Arc<Stop>,
    reports: Arc<Reports>,
    planning: Arc<Planning>,
    /// Resources that got a step, in a run that keeps to a plan.
    happened: AtomicRefCell<UrnSet>,
}

impl PlanKeeping {
    pub(crate) fn new(
        operation: &Arc<Operation>,
        stop: &Arc<Stop>,
        reports: &Arc<Reports>,
        planning: &Arc<Planning>,
    ) -> Self {
        Self {
            operation: Arc::clone(operation),
            stop: Arc::clone(stop),
            reports: Arc::clone(reports),
            planning: Arc::clone(planning),
            happened: AtomicRefCell::default(),
        }
    }

    /// Notes that a resource got a step.
    pub(crate) fn note(&self, urn: &Urn) {
        self.happened.borrow_mut().insert(urn.clone());
    }

    /// Refuses a step that was not planned, before anything of it is done.
    pub(crate) fn keep_to_plan(&self, step: &Step) -> Result<(), RpcError> {
        let Some(plan) = &self.operation.plan else { return Ok(()) };
        if step.urn.is_default_provider() {
            return Ok(());
        }
        self.note(&step.urn);
        self.refuse_violations(&step.urn, &plan.violations(step))
    }

    /// Refuses outputs of a component or of the stack that were not planned.
    pub(crate) fn keep_outputs_to_plan(&self, urn: &Urn, old: &PropertyMap, new: &PropertyMap) -> Result<(), RpcError> {
        match &self.operation.plan {
            Some(plan) => self.refuse_violations(urn, &plan.output_violations(urn, old, new)),
            None => Ok(()),
        }
    }

    fn refuse_violations(&self, urn: &Urn, violations: &[String]) -> Result<(), RpcError> {
        if violations.is_empty() {
            return Ok(());
        }
        Err(self.reports.refuse(&RegistrationError::not_as_planned(urn, violations)))
    }

    /// Fails a run that ended without steps that were planned.
    pub(crate) fn miss_planned_steps(&self) {
        let Some(plan) = &self.operation.plan else { return };
        if self.stop.is_halted() || self.stop.failure().is_some() {
            return;
        }
        let missing: Vec<(Urn, String)> = {
            let (with_steps, planner) = (self.happened.borrow(), self.planning.planner());
            let happened = |urn: &Urn| with_steps.contains(urn) || urn.is_default_provider();
            let exists = |urn: &Urn| planner.old_state(urn).is_some();
            plan.missing(happened, exists).map(|(urn, steps)| (urn.clone(), steps)).collect()
        };
        for (urn, steps) in missing {
            self.reports.refuse(&RegistrationError::planned_steps_missing(&urn, &steps));
        }
    }
}
