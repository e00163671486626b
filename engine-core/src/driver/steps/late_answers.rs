//! Answers that come after their call was given up: the run still goes on, so they count.

use std::collections::HashMap;
use std::sync::Arc;

use atomic_refcell::AtomicRefCell;

use crate::event::Severity;
use crate::plan::Step;
use crate::provider::{Answer, Method, ProviderError};
use crate::resource_state::ResourceState;
use crate::state::ResourceNumber;
use crate::value::PropertyMap;

use crate::driver::calls::answer_validation::fit_to_keep;
use crate::driver::calls::shown_assets::shown_assets;
use crate::driver::doors::Doors;
use crate::driver::exchange::Exchange;
use crate::driver::journal::Journal;
use crate::driver::reports::Reports;
use crate::driver::steps::Outcomes;
use crate::driver::steps::outcomes::CallOutcome;
use crate::driver::stop::Stop;

/// What a late answer leads to.
#[derive(Clone)]
pub(crate) enum LateOutcome {
    /// The resource state that a create or update leads to.
    Change { step: Step, resource: Arc<ResourceState>, operation: u32 },
    /// The end of a resource.
    Deletion { step: Step, number: ResourceNumber, operation: u32 },
}

/// A call whose answer may still come.
pub(crate) struct GivenUpCall {
    pub(crate) method: &'static str,
    pub(crate) shown: Vec<PropertyMap>,
    pub(crate) outcome: LateOutcome,
}

impl GivenUpCall {
    pub(crate) fn of(method: &Method, outcome: LateOutcome) -> Self {
        Self { method: method.name(), shown: shown_assets(method), outcome }
    }
}

/// Takes answers that come late.
pub(crate) struct LateAnswers {
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    reports: Arc<Reports>,
    journal: Arc<Journal>,
    outcomes: Arc<Outcomes>,
    /// The calls that were given up, by number.
    expected: AtomicRefCell<HashMap<u64, GivenUpCall>>,
    /// Answers that came before it was noted that their call was given up.
    early: AtomicRefCell<HashMap<u64, Result<Answer, ProviderError>>>,
}

impl LateAnswers {
    pub(crate) fn new(doors: &Doors, outcomes: &Arc<Outcomes>) -> Self {
        Self {
            exchange: Arc::clone(&doors.exchange),
            stop: Arc::clone(&doors.stop),
            reports: Arc::clone(&doors.reports),
            journal: Arc::clone(&doors.journal),
            outcomes: Arc::clone(outcomes),
            expected: AtomicRefCell::default(),
            early: AtomicRefCell::default(),
        }
    }

    /// Notes that a call was given up and may still be answered.
    pub(super) fn expect(self: &Arc<Self>, number: u64, late: GivenUpCall) {
        let early = self.early.borrow_mut().remove(&number);
        match early {
            Some(answer) => self.begin(late, answer),
            None => drop(self.expected.borrow_mut().insert(number, late)),
        }
    }

    /// An answer came late.
    pub(crate) fn come(self: &Arc<Self>, number: u64, answer: Result<Answer, ProviderError>) {
        let expected = self.expected.borrow_mut().remove(&number);
        match expected {
            Some(late) => self.begin(late, answer),
            None => drop(self.early.borrow_mut().insert(number, answer)),
        }
    }

    fn begin(self: &Arc<Self>, late: GivenUpCall, answer: Result<Answer, ProviderError>) {
        let answers = Arc::clone(self);
        self.exchange
            .begin_flow(self.exchange.new_flow(), move || Box::pin(async move { answers.take(late, answer).await }));
    }

    /// Writes down what a late answer leads to.
    async fn take(&self, late: GivenUpCall, answer: Result<Answer, ProviderError>) {
        // The end of the run waits for it: what it says would be lost otherwise.
        let _flight = self.stop.enter();
        let GivenUpCall { method, shown, outcome } = late;
        let answer = fit_to_keep(&self.exchange, method, &shown, answer).await;
        match outcome {
            LateOutcome::Change { step, resource, operation } => {
                let settled = match self.outcomes.record(&step, Arc::unwrap_or_clone(resource), answer, operation).await
                {
                    Ok(CallOutcome { resource, written, .. }) => {
                        self.journal.durable(written, Some(&resource)).await.map(|()| resource)
                    }
                    Err(error) => Err(error),
                };
                let text = match settled {
                    Ok(resource) => format!("it ended after its time limit: the object has the id '{}'", resource.id),
                    Err(error) => format!("it ended after its time limit: {error}"),
                };
                self.reports.diagnose(Some(&step.urn), Severity::Warning, text);
            }
            LateOutcome::Deletion { step, number, operation } => {
                let Some((_, resource)) = step.old.clone() else { return };
                let mut changes = vec![self.journal.end(operation)];
                let text = match answer {
                    Ok(_) => {
                        changes.extend(self.outcomes.book_deletion(&step, number, &resource));
                        "delete ended after its time limit: the object is gone".to_owned()
                    }
                    Err(error) => format!("delete ended after its time limit: {error}"),
                };
                // A failure to write is the run's failure already.
                let _ = self.journal.record(changes).await;
                self.reports.diagnose(Some(&step.urn), Severity::Warning, text);
            }
        }
    }
}
