//! Answers that come after their call was given up: the run still goes on, so they count.

use std::sync::Arc;

use crate::event::Severity;
use crate::provider::{Answer, ProviderError};

use crate::driver::context::late_calls::{LateAnswer, LateOutcome};
use crate::driver::context::{Begun, Context};
use crate::driver::steps::outcomes::Settled;

impl Context {
    /// Notes that a call was given up and may still be answered.
    pub(in crate::driver) fn expect_late(&self, number: u64, late: LateAnswer) {
        let early = {
            let late_calls = &mut self.run_state().late;
            late_calls.early.remove(&number)
        };
        match early {
            Some(answer) => self.begin(self.exchange.new_flow(), Begun::Late(Box::new(late), answer)),
            None => drop(self.run_state().late.expected.insert(number, late)),
        }
    }

    /// An answer came late.
    pub(in crate::driver) fn come_late(&self, number: u64, answer: Result<Answer, ProviderError>) {
        let expected = self.run_state().late.expected.remove(&number);
        match expected {
            Some(late) => self.begin(self.exchange.new_flow(), Begun::Late(Box::new(late), answer)),
            None => drop(self.run_state().late.early.insert(number, answer)),
        }
    }

    /// Writes down what a late answer leads to.
    pub(in crate::driver) async fn take_late(&self, late: LateAnswer, answer: Result<Answer, ProviderError>) {
        // The end of the run waits for it: what it says would be lost otherwise.
        let _flight = self.stop.enter();
        let LateAnswer { method, shown, outcome } = late;
        let answer = self.providers.fit_to_keep(method, &shown, answer).await;
        match outcome {
            LateOutcome::Change { step, resource, operation } => {
                let settled = match self.settle(&step, Arc::unwrap_or_clone(resource), answer, operation).await {
                    Ok(Settled { resource, written, .. }) => {
                        self.durable(written, Some(&resource)).await.map(|()| resource)
                    }
                    Err(error) => Err(error),
                };
                let text = match settled {
                    Ok(resource) => format!("it ended after its time limit: the object has the id '{}'", resource.id),
                    Err(error) => format!("it ended after its time limit: {error}"),
                };
                self.diagnose(Some(&step.urn), Severity::Warning, text);
            }
            LateOutcome::Deletion { step, number, operation } => {
                let Some((_, resource)) = step.old.clone() else { return };
                let mut changes = vec![self.run_state().end(operation)];
                let text = match answer {
                    Ok(_) => {
                        changes.extend(self.book_deletion(&step, number, &resource));
                        "delete ended after its time limit: the object is gone".to_owned()
                    }
                    Err(error) => format!("delete ended after its time limit: {error}"),
                };
                // A failure to write is the run's failure already.
                let _ = self.record(changes).await;
                self.diagnose(Some(&step.urn), Severity::Warning, text);
            }
        }
    }
}
