//! Answers that come after their call was given up: the run still goes on, so they count.

use std::sync::Arc;

use crate::event::Severity;
use crate::provider::{Answer, ProviderError};

use crate::driver::calls::answer_validation::fit_to_keep;
use crate::driver::steps::JournalledCalls;
use crate::driver::steps::late_calls::{LateAnswer, LateOutcome};
use crate::driver::steps::outcomes::CallOutcome;

impl JournalledCalls {
    /// Notes that a call was given up and may still be answered.
    pub(super) fn expect_late(self: &Arc<Self>, number: u64, late: LateAnswer) {
        let early = self.late.borrow_mut().early.remove(&number);
        match early {
            Some(answer) => self.begin_late(late, answer),
            None => drop(self.late.borrow_mut().expected.insert(number, late)),
        }
    }

    /// An answer came late.
    pub(crate) fn come_late(self: &Arc<Self>, number: u64, answer: Result<Answer, ProviderError>) {
        let expected = self.late.borrow_mut().expected.remove(&number);
        match expected {
            Some(late) => self.begin_late(late, answer),
            None => drop(self.late.borrow_mut().early.insert(number, answer)),
        }
    }

    fn begin_late(self: &Arc<Self>, late: LateAnswer, answer: Result<Answer, ProviderError>) {
        let calls = Arc::clone(self);
        self.exchange
            .begin(self.exchange.new_flow(), move || Box::pin(async move { calls.take_late(late, answer).await }));
    }

    /// Writes down what a late answer leads to.
    async fn take_late(&self, late: LateAnswer, answer: Result<Answer, ProviderError>) {
        // The end of the run waits for it: what it says would be lost otherwise.
        let _flight = self.stop.enter();
        let LateAnswer { method, shown, outcome } = late;
        let answer = fit_to_keep(&self.exchange, method, &shown, answer).await;
        match outcome {
            LateOutcome::Change { step, resource, operation } => {
                let settled = match self.outcomes.settle(&step, Arc::unwrap_or_clone(resource), answer, operation).await
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
