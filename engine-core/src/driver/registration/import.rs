//! The option `import`: what is asked of the provider, and the resource of the object that is taken over (docs/rules
//! 7.2).

use std::sync::Arc;

use crate::event::{Event, Op};
use crate::operation::Operation;
use crate::plan::{Question, Registration, RegistrationError, Step};
use crate::provider::{Answer, Method, ProviderError};
use crate::resource_state::ResourceState;
use crate::urn::Urn;

use crate::driver::answers::RpcError;
use crate::driver::call_permits::CallPermits;
use crate::driver::calls::providers::Providers;
use crate::driver::calls::resolved_provider::ResolvedProvider;
use crate::driver::doors::Doors;
use crate::driver::registration::claim::Claims;
use crate::driver::registration::outcome::RegistrationOutcome;
use crate::driver::reports::Reports;
use crate::driver::selection::Selection;

/// Why an object could not be taken over.
pub(crate) enum ImportFailure {
    /// It is not there, or not as the program says.
    Refused(RegistrationError),
    /// Its provider could not be asked.
    Call(ProviderError),
}

/// Takes over the objects that the option `import` names.
pub(crate) struct ImportOption {
    operation: Arc<Operation>,
    providers: Arc<Providers>,
    reports: Arc<Reports>,
    call_permits: Arc<CallPermits>,
    claims: Arc<Claims>,
    selection: Arc<Selection>,
}

impl ImportOption {
    pub(crate) fn new(doors: &Doors, claims: &Arc<Claims>) -> Self {
        Self {
            operation: Arc::clone(&doors.operation),
            providers: Arc::clone(&doors.providers),
            reports: Arc::clone(&doors.reports),
            call_permits: Arc::clone(&doors.call_permits),
            claims: Arc::clone(claims),
            selection: Arc::clone(&doors.selection),
        }
    }

    /// Asks for an object that is to be taken over; `None` when that is not the question.
    pub(super) async fn ask_for_import(
        &self,
        registration: &Registration,
        question: &Question,
        resolved: Option<&ResolvedProvider>,
    ) -> Option<Result<Answer, ImportFailure>> {
        let resolved = resolved.filter(|_| registration.is_importing())?;
        let Method::Read { .. } = &question.method else { return None };
        if !resolved.can_read() {
            return Some(Err(ImportFailure::Refused(RegistrationError::import_without_read(&registration.urn))));
        }
        let id = &registration.goal.import_id;
        if let Err(refusal) = self.claims.claim(wanted(registration, id), formerly(registration), resolved) {
            return Some(Err(ImportFailure::Refused(refusal)));
        }
        // When the run has been stopped, the question that follows says so.
        let _permit = self.call_permits.call_permit(&registration.urn, resolved).await.ok()?;
        let answer = self.providers.call(resolved, &registration.urn, question.method.clone()).await;
        if let Ok(Answer::Read { id, outputs, inputs, .. }) = &answer {
            outputs.iter().chain(inputs).for_each(|properties| self.reports.learn_secrets_of(properties));
            if *id != registration.goal.import_id
                && let Some(outputs) = outputs
            {
                let resource = wanted(registration, id);
                let claimed = self.claims.claim_read(resource, formerly(registration), resolved, outputs);
                if let Err(refusal) = claimed {
                    return Some(Err(ImportFailure::Refused(refusal)));
                }
            }
        }
        Some(answer.map_err(ImportFailure::Call))
    }

    /// Tells that an object could not be taken over. A preview goes on, to tell of all of them; so does a run with
    /// continue-on-error.
    pub(super) fn fail_import(
        &self,
        registration: &Registration,
        failure: ImportFailure,
    ) -> Result<(Urn, RegistrationOutcome), RpcError> {
        let urn = registration.urn.clone();
        let resource = ResourceState { import_id: registration.goal.import_id.clone(), ..registration.new_state() };
        let step = Step::new(Op::Import, &urn, registration.old.clone(), Some(Arc::new(resource)));
        let goes_on = self.operation.continue_on_error || self.operation.dry_run;
        if !self.operation.dry_run {
            self.selection.fail(urn.clone());
        }
        self.reports.emit(Event::StepStarted(step.metadata(step.new.clone())));
        match failure {
            ImportFailure::Refused(refusal) if goes_on => self.reports.complain(&refusal),
            ImportFailure::Refused(refusal) => drop(self.reports.refuse(&refusal)),
            ImportFailure::Call(error) => self.reports.report_failure(&urn, &error, !goes_on),
        }
        self.reports.emit(Event::StepFailed(step.metadata(step.new.clone())));
        match (goes_on, self.operation.dry_run) {
            (false, _) => Err(RpcError::unavailable()),
            (true, true) => Ok((urn, RegistrationOutcome::Unknown)),
            (true, false) => Ok((urn, RegistrationOutcome::Failed)),
        }
    }
}

/// The resource that is to have an object.
fn wanted(registration: &Registration, id: &str) -> ResourceState {
    ResourceState { id: id.to_owned(), ..registration.new_state() }
}

/// The URN that it had before.
fn formerly(registration: &Registration) -> Option<&Urn> {
    registration.old.as_ref().map(|(_, old)| &old.urn)
}
