//! A step is reported when its record is durable; the program does not wait for that.
//!
//! The outcome of a call goes to the journal, and the answer to the program. What the program registers next is journalled
//! after it, so one flush makes the outcome and the next intent durable, and no provider is called before. Only the report that
//! a step is done waits for the disk, and reports of steps keep their order.

use std::sync::Arc;
use std::time::Duration;

use futures::channel::mpsc::unbounded;
use futures::channel::oneshot;
use futures::stream::StreamExt;

use crate::event::{Diagnostic, Event, Severity, StepMetadata};
use crate::fail_points;
use crate::plan::Step;
use crate::provider::ProviderError;
use crate::resource_state::ResourceState;
use crate::urn::Urn;

use crate::driver::actions::FlowId;
use crate::driver::exchange::PendingRecord;
use crate::driver::reports::Reports;
use crate::driver::reports::event_queue::{Beginning, Message, ReportQueue, UnreportedSteps};

impl Reports {
    /// Reports an event of a step, after all events of steps before.
    pub(crate) fn emit(&self, event: Event) {
        let mut event = Some(event);
        let message = |unreported: &mut UnreportedSteps| match event.take() {
            Some(Event::StepStarted(step)) => {
                let beginning = Arc::<Beginning>::default();
                unreported.steps.insert(step.urn.clone(), Arc::clone(&beginning));
                Message::Started(Box::new(step), beginning)
            }
            event => Message::Event(Box::new(event.unwrap_or(Event::End))),
        };
        if !self.durable_events.send(message)
            && let Some(event) = event
        {
            self.exchange.emit(event);
        }
    }

    /// Reports a message. An error about a step that nobody knows yet comes behind its beginning: a step without an error of its
    /// own is taken for one that was cancelled. All else is reported at once, for the run may be killed.
    pub(super) fn emit_diagnostic(&self, message: Diagnostic) {
        let is_early = |urn: &Urn| self.durable_events.unreported().steps.contains_key(urn);
        if message.severity == Severity::Error && message.urn.as_ref().is_some_and(is_early) {
            self.emit(Event::Diagnostic(message));
        } else {
            self.exchange.emit(Event::Diagnostic(message));
        }
    }

    /// Notes that a step failed, and reports it.
    pub(crate) fn failed(&self, step: &Step, error: &ProviderError) {
        self.note_failure(&step.urn, error);
        self.emit(Event::StepFailed(step.metadata(step.new.clone())));
    }

    /// Reports that the provider of a resource is called now, at once if its step was reported, else right behind that.
    pub(crate) fn call_began(&self, urn: &Urn) {
        if let Some(beginning) = self.durable_events.unreported().steps.get(urn) {
            let mut beginning = beginning.0.borrow_mut();
            if !beginning.reported {
                beginning.called.get_or_insert(self.exchange.moment().instant);
                return;
            }
        }
        self.exchange.call_began(urn.clone(), Duration::ZERO);
    }

    fn emit_started(&self, step: StepMetadata, beginning: &Arc<Beginning>) {
        let urn = step.urn.clone();
        self.exchange.emit(Event::StepStarted(step));
        let called = {
            let mut beginning = beginning.0.borrow_mut();
            beginning.reported = true;
            beginning.called
        };
        if let Some(called) = called {
            let now = self.exchange.moment().instant;
            self.exchange.call_began(urn.clone(), now.saturating_duration_since(called));
        }
        let mut unreported = self.durable_events.unreported();
        // A later step of the resource may be waiting behind this one.
        if unreported.steps.get(&urn).is_some_and(|latest| Arc::ptr_eq(latest, beginning)) {
            unreported.steps.remove(&urn);
        }
    }

    /// Counts a step and reports it once it is durable. Where that fails, so does the step, and the run.
    pub(crate) fn done_when_durable(
        self: &Arc<Self>,
        step: Step,
        resource: Arc<ResourceState>,
        written: PendingRecord,
    ) {
        self.reporting_flow();
        self.durable_events.send(|_| Message::Done { step: Box::new(step), resource, written });
    }

    /// Waits until the watcher knows all steps that were taken so far: those that are done are reported when they are
    /// durable.
    pub(crate) async fn all_reported(&self) {
        let (sender, reported) = oneshot::channel();
        if self.durable_events.send(|_| Message::AllReported(sender)) {
            // An error: the run is gone.
            let _ = reported.await;
        }
    }

    /// The flow that reports steps; begins with the first one that waits for the disk.
    pub(crate) fn reporting_flow(self: &Arc<Self>) -> FlowId {
        if let Some((flow, _)) = &self.durable_events.unreported().reporting {
            return *flow;
        }
        let (queue, messages) = unbounded();
        let flow = self.exchange.new_flow();
        self.durable_events.unreported().reporting = Some((flow, queue));
        let reports = Arc::clone(self);
        self.exchange.begin_flow(flow, move || Box::pin(async move { reports.report(ReportQueue(messages)).await }));
        flow
    }

    /// Reports steps, one after the other, as long as the run lasts.
    pub(crate) async fn report(&self, ReportQueue(mut messages): ReportQueue) {
        while let Some(message) = messages.next().await {
            match message {
                Message::Started(step, beginning) => self.emit_started(*step, &beginning),
                Message::Done { step, resource, written } => self.emit_when_durable(&step, resource, written).await,
                Message::Event(event) => self.exchange.emit(*event),
                Message::AllReported(sender) => {
                    // Whoever waited may have given up.
                    let _ = sender.send(());
                }
            }
        }
    }

    async fn emit_when_durable(&self, step: &Step, resource: Arc<ResourceState>, written: PendingRecord) {
        let outcome = written.wait().await;
        fail_points::kill("kill::after-outcome");
        match outcome {
            Ok(()) => {
                self.count(step.op, &step.urn);
                self.exchange.emit(Event::StepDone(step.metadata(Some(resource))));
            }
            Err(error) => {
                let error = self.outcome_failure(&error, Some(&resource));
                self.note_failure(&step.urn, &error);
                self.exchange.emit(Event::StepFailed(step.metadata(step.new.clone())));
            }
        }
    }
}

#[cfg(test)]
#[path = "durable_events_tests.rs"]
mod tests;
