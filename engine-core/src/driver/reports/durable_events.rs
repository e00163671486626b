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
use crate::driver::reports::event_queue::{Beginning, Books, Message, ReportQueue};

impl Reports {
    /// Tells of a step, after all that was said of steps before.
    pub(crate) fn tell(&self, event: Event) {
        let mut event = Some(event);
        let message = |books: &mut Books| match event.take() {
            Some(Event::StepStarted(step)) => {
                let beginning = Arc::<Beginning>::default();
                books.unreported.insert(step.urn.clone(), Arc::clone(&beginning));
                Message::Started(Box::new(step), beginning)
            }
            event => Message::Event(Box::new(event.unwrap_or(Event::End))),
        };
        if !self.durable_events.send(message)
            && let Some(event) = event
        {
            self.exchange.tell(event);
        }
    }

    /// Tells a message. An error about a step that nobody knows yet comes behind its beginning: a step without an error of its
    /// own is taken for one that was cancelled. All else is told at once, for the run may be killed.
    pub(super) fn tell_message(&self, message: Diagnostic) {
        let is_early = |urn: &Urn| self.durable_events.books().unreported.contains_key(urn);
        if message.severity == Severity::Error && message.urn.as_ref().is_some_and(is_early) {
            self.tell(Event::Diagnostic(message));
        } else {
            self.exchange.tell(Event::Diagnostic(message));
        }
    }

    /// Notes that a step failed, and tells of it.
    pub(crate) fn failed(&self, step: &Step, error: &ProviderError) {
        self.note_failure(&step.urn, error);
        self.tell(Event::StepFailed(step.metadata(step.new.clone())));
    }

    /// Tells that the provider of a resource is called now, at once if its step was reported, else right behind that.
    pub(crate) fn tell_call(&self, urn: &Urn) {
        if let Some(beginning) = self.durable_events.books().unreported.get(urn) {
            let mut beginning = beginning.0.borrow_mut();
            if !beginning.told {
                beginning.called.get_or_insert(self.exchange.moment().instant);
                return;
            }
        }
        self.exchange.tell_call(urn.clone(), Duration::ZERO);
    }

    fn tell_beginning(&self, step: StepMetadata, beginning: &Arc<Beginning>) {
        let urn = step.urn.clone();
        self.exchange.tell(Event::StepStarted(step));
        let called = {
            let mut beginning = beginning.0.borrow_mut();
            beginning.told = true;
            beginning.called
        };
        if let Some(called) = called {
            let now = self.exchange.moment().instant;
            self.exchange.tell_call(urn.clone(), now.saturating_duration_since(called));
        }
        let mut books = self.durable_events.books();
        // A later step of the resource may be waiting behind this one.
        if books.unreported.get(&urn).is_some_and(|latest| Arc::ptr_eq(latest, beginning)) {
            books.unreported.remove(&urn);
        }
    }

    /// Counts a step and tells of it once it is durable. Where that fails, so does the step, and the run.
    pub(crate) fn done_when_written(
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
    pub(crate) async fn all_told(&self) {
        let (sender, told) = oneshot::channel();
        if self.durable_events.send(|_| Message::Told(sender)) {
            // An error: the run is gone.
            let _ = told.await;
        }
    }

    /// The flow that tells of steps; begins with the first one that waits for the disk.
    pub(crate) fn reporting_flow(self: &Arc<Self>) -> FlowId {
        if let Some((flow, _)) = &self.durable_events.books().reporting {
            return *flow;
        }
        let (queue, messages) = unbounded();
        let flow = self.exchange.new_flow();
        self.durable_events.books().reporting = Some((flow, queue));
        let reports = Arc::clone(self);
        self.exchange.begin(flow, move || Box::pin(async move { reports.report(ReportQueue(messages)).await }));
        flow
    }

    /// Tells of steps, one after the other, as long as the run lasts.
    pub(crate) async fn report(&self, ReportQueue(mut messages): ReportQueue) {
        while let Some(message) = messages.next().await {
            match message {
                Message::Started(step, beginning) => self.tell_beginning(*step, &beginning),
                Message::Done { step, resource, written } => self.tell_when_written(&step, resource, written).await,
                Message::Event(event) => self.exchange.tell(*event),
                Message::Told(sender) => {
                    // Whoever waited may have given up.
                    let _ = sender.send(());
                }
            }
        }
    }

    async fn tell_when_written(&self, step: &Step, resource: Arc<ResourceState>, written: PendingRecord) {
        let outcome = written.wait().await;
        fail_points::kill("kill::after-outcome");
        match outcome {
            Ok(()) => {
                self.count(step.op, &step.urn);
                self.exchange.tell(Event::StepDone(step.metadata(Some(resource))));
            }
            Err(error) => {
                let error = self.outcome_failure(&error, Some(&resource));
                self.note_failure(&step.urn, &error);
                self.exchange.tell(Event::StepFailed(step.metadata(step.new.clone())));
            }
        }
    }
}

#[cfg(test)]
#[path = "durable_events_tests.rs"]
mod tests;
