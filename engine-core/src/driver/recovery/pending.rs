//! Completing creations that an earlier run began without learning how they ended (docs/rules 7.4, 8.6).

use std::sync::Arc;

use crate::event::{Event, Op};
use crate::plan::{RegistrationError, Step};
use crate::provider::{Answer, Method, ProviderError};
use crate::resource_state::ResourceState;
use crate::urn::Urn;

use crate::driver::recovery::Recovery;
use crate::driver::steps::resource_states::stamp;

impl Recovery {
    /// Takes over the objects that interrupted creations made, by the ids that the user found.
    pub(crate) async fn import_pending_creates(&self) {
        for (urn, id) in &self.operation.pending_creates {
            if self.stop.is_halted() {
                return;
            }
            let unresolved = self.journal.ledger().unresolved(urn).cloned();
            let Some(unresolved) = unresolved else {
                self.reports.complain(&RegistrationError::no_pending_create(urn));
                continue;
            };
            if let Some(owner) = self.owner_of(&unresolved.resource, id) {
                self.reports.complain(&RegistrationError::object_of_another(urn, id, &owner));
                continue;
            }
            let resource = Arc::new(ResourceState { id: id.clone(), ..(*unresolved.resource).clone() });
            let step = Step::new(Op::Import, urn, None, Some(resource));
            self.reports.emit(Event::StepStarted(step.metadata(step.new.clone())));
            match self.complete_creation(&step, urn, id).await {
                Ok(Some(resource)) => {
                    self.reports.count(Op::Import, urn);
                    self.reports.emit(Event::StepDone(step.metadata(Some(resource))));
                }
                Ok(None) => {
                    self.reports.complain(&RegistrationError::nothing_to_import(urn, id));
                    self.reports.emit(Event::StepFailed(step.metadata(step.new.clone())));
                }
                Err(error) => {
                    self.reports.report_failure(urn, &error, false);
                    self.reports.emit(Event::StepFailed(step.metadata(step.new.clone())));
                }
            }
        }
    }

    /// The resource of the object; `None` when there is none of that id, and the creation stays open.
    async fn complete_creation(
        &self,
        step: &Step,
        urn: &Urn,
        id: &str,
    ) -> Result<Option<Arc<ResourceState>>, ProviderError> {
        let Some(intended) = &step.new else { return Ok(None) };
        let resolved = self.providers.resolve(intended).await?;
        let method = Method::Read { id: id.to_owned(), props: resolved.shown(&intended.inputs), timeout: 0.0 };
        let answer = {
            let _permit = self.call_permits.call_permit(urn, &resolved).await?;
            self.providers.call(&resolved, urn, method).await?
        };
        let Answer::Read { id, outputs: Some(outputs), .. } = answer else { return Ok(None) };
        if id.is_empty() {
            return Ok(None);
        }
        let mut resource = ResourceState { id, ..(**intended).clone() };
        self.outcomes.renew_outputs(&mut resource, outputs, &intended.inputs);
        stamp(Op::Import, &mut resource, self.exchange.now());
        self.ground(&mut resource).await?;
        let resource = Arc::new(resource);
        let (_, changes) = self.planning.take_over(&resource);
        if !self.operation.dry_run {
            self.journal.record(changes).await?;
        }
        Ok(Some(resource))
    }
}
