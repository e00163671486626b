//! What is refused and what has failed: told on its resource, and noted as the failure of the run.

use crate::error::{Error, Reason};
use crate::event::Severity;
use crate::message;
use crate::message::{Command, Message};
use crate::plan::RegistrationError;
use crate::provider::{HostError, ProviderError, ProviderErrorKind};
use crate::resource_state::ResourceState;
use crate::urn::Urn;

use crate::driver::answers::RpcError;
use crate::driver::reports::Reports;
use crate::driver::stop::Failure;

/// The reason that a call which failed is for a run's failure.
fn of_call(kind: &ProviderErrorKind) -> Reason {
    match kind {
        // Nothing was called: the program has no such object, or a function of its own failed.
        ProviderErrorKind::NoProvider | ProviderErrorKind::NoMethod | ProviderErrorKind::Hook => Reason::Program,
        ProviderErrorKind::NoStack(_) => Reason::Needs,
        _ => Reason::Provider,
    }
}

impl Reports {
    /// Ends a request when the run was stopped.
    pub(crate) fn go_on(&self) -> Result<(), RpcError> {
        if self.stop.is_halted() { Err(RpcError::unavailable()) } else { Ok(()) }
    }

    /// Ends the run because of a registration that cannot be fulfilled; every message is shown.
    pub(crate) fn refuse(&self, refusal: &RegistrationError) -> RpcError {
        self.tell_refusal(refusal, true);
        RpcError::unavailable()
    }

    /// Tells of what is refused and goes on: the run fails at its end.
    pub(crate) fn complain(&self, refusal: &RegistrationError) {
        self.tell_refusal(refusal, false);
    }

    fn tell_refusal(&self, refusal: &RegistrationError, halt: bool) {
        self.counts.count_failed();
        for message in &refusal.messages {
            self.diagnose(refusal.urn.as_ref(), Severity::Error, message.clone());
        }
        let reasons = Message::join(&refusal.messages, "; ");
        let message = match &refusal.urn {
            Some(urn) => message![format!("{urn}: "), reasons],
            None => reasons,
        };
        self.stop.fail(Failure { urn: refusal.urn.clone(), ..Failure::new(refusal.reason, message) }, halt);
    }

    /// Ends the run because a resource could not be planned.
    pub(crate) fn fail_planning(&self, urn: &Urn, error: &ProviderError) -> RpcError {
        self.report_failure(urn, error, true);
        RpcError::unavailable()
    }

    /// Shows a failed provider call on its resource and notes it as the run's failure.
    pub(crate) fn report_failure(&self, urn: &Urn, error: &ProviderError, halt: bool) {
        if error.kind == ProviderErrorKind::Cancelled {
            return;
        }
        self.counts.count_failed();
        let text = match (&error.kind, error.traceback.is_empty()) {
            (ProviderErrorKind::NotInitialized { reasons, .. }, _) => {
                let count = if reasons.len() == 1 { "1 error".to_owned() } else { format!("{} errors", reasons.len()) };
                let list = reasons.join("\n    * ");
                format!("the object is there but did not start: {count} occurred:\n    * {list}").into()
            }
            (ProviderErrorKind::UnusableOutputs { id, .. }, _) if id.is_empty() => {
                message![&error.message, ". The object was changed; the next run updates it once more"]
            }
            (ProviderErrorKind::UnusableOutputs { id, .. }, _) => message![
                &error.message,
                format!(". The object was made and is kept in the state with its id '{id}'; the next run updates it")
            ],
            (ProviderErrorKind::Interrupted, _) => {
                "it was cancelled before it ended; what it has done is not known, and the next run names it".into()
            }
            (_, true) => error.message.clone(),
            (_, false) => message![&error.message, "\n", &error.traceback],
        };
        self.diagnose(Some(urn), Severity::Error, text);
        let source: Option<HostError> = error.source.clone();
        let method = self.providers.failed_method(urn);
        let message = message![format!("{urn}: "), &error.message];
        let needs = match &error.kind {
            ProviderErrorKind::NoStack(stack) => Some(stack.clone()),
            _ => None,
        };
        let (reason, urn, transience) = (of_call(&error.kind), Some(urn.clone()), error.transience.as_deref().copied());
        self.stop.fail(Failure { reason, message, source, urn, method, transience, needs }, halt);
    }

    /// Notes that a resource failed, and reports why.
    pub(super) fn note_failure(&self, urn: &Urn, error: &ProviderError) {
        if error.kind == ProviderErrorKind::Raised {
            self.tally.borrow_mut().maybe_corrupt = true;
        }
        self.selection.fail(urn.clone());
        self.report_failure(urn, error, !self.operation.continue_on_error);
    }

    /// Ends the run because nothing can be recorded any more.
    pub(crate) fn state_failure(&self, error: &Error) -> ProviderError {
        let message = message!["the state cannot be written, so nothing more is begun: ", error];
        self.stop.fail(Failure::new(Reason::from(error), message.clone()), true);
        ProviderError::new(ProviderErrorKind::BadReturn, message)
    }

    /// The outcome of a call could not be recorded: nobody but this message may know of the object.
    pub(crate) fn outcome_failure(&self, error: &Error, resource: Option<&ResourceState>) -> ProviderError {
        let mut failure = self.state_failure(error);
        if let Some(resource) = resource.filter(|resource| !resource.id.is_empty()) {
            failure.message = message![
                format!(
                    "{}. The object has the id '{}': if the state does not name it after this run, take it over: with ",
                    failure.message, resource.id
                ),
                Command::new("refresh").with("--import-pending-creates").quoted(&resource.urn).value(&resource.id),
                " if ",
                Command::new("stack"),
                " shows an unresolved create of it, else with ",
                Command::new("import")
            ];
        }
        failure
    }
}
