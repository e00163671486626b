//! Steps are told of when they are durable; the program need not wait for that.
//!
//! The outcome of a call goes to the journal, and the answer to the program. What the program registers next is journalled
//! after it, so one flush makes the outcome and the next intent durable, and no provider is called before. Only those who
//! are told that a step is done wait for the disk, and everything that is told of steps keeps its order.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::event::{Event, StepMetadata};
use crate::kill_point::{self, KillPoint};
use crate::plan::Step;
use crate::planted::{self, Bug};
use crate::resource_state::ResourceState;
use crate::state::Durability;
use crate::urn::Urn;

use crate::driver::Engine;

/// What is told of steps, once there is something that waits for the disk.
#[derive(Default)]
pub(in crate::driver) struct DurableEvents {
    queue: OnceLock<UnboundedSender<Message>>,
    /// By resource: the latest step that began and was not told of yet.
    unreported: Mutex<HashMap<Urn, Arc<Beginning>>>,
}

/// A step whose beginning is still to be told. Its call may overtake that: it waits for its own record to be durable,
/// the telling for those of others.
#[derive(Default)]
struct Beginning(Mutex<Told>);

#[derive(Default)]
struct Told {
    told: bool,
    /// When its provider was called.
    called: Option<Instant>,
}

impl Beginning {
    fn lock(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DurableEvents {
    fn unreported(&self) -> MutexGuard<'_, HashMap<Urn, Arc<Beginning>>> {
        self.unreported.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Message {
    /// A step has begun.
    Started { step: Box<StepMetadata>, beginning: Arc<Beginning> },
    /// A step that is done once its outcome is durable.
    Done { step: Box<Step>, row: Arc<ResourceState>, written: Durability },
    /// What comes after all that was sent before.
    Event(Box<Event>),
    /// Somebody waits until all that was sent before was told.
    Told(oneshot::Sender<()>),
}

impl Engine {
    /// Tells of a step, after all that was said of steps before.
    pub(in crate::driver) fn tell(&self, event: Event) {
        let Some(queue) = self.durable_events.queue.get() else { return self.events.emit(event) };
        let message = match event {
            Event::StepStarted(step) => {
                let beginning = Arc::<Beginning>::default();
                self.durable_events.unreported().insert(step.urn.clone(), Arc::clone(&beginning));
                Message::Started { step: Box::new(step), beginning }
            }
            event => Message::Event(Box::new(event)),
        };
        // The one that listens is only gone when the host has ended the run's tasks.
        let _ = queue.send(message);
    }

    /// Tells that the provider of a resource is called now, at once if its step was told of, else right behind that.
    pub(in crate::driver) fn tell_call(&self, urn: &Urn) {
        let unreported = self.durable_events.unreported().get(urn).cloned();
        if let Some(beginning) = unreported {
            let mut beginning = beginning.lock();
            if !beginning.told {
                beginning.called.get_or_insert_with(|| self.host.now());
                return;
            }
        }
        self.events.call_began(urn, Duration::ZERO);
    }

    fn tell_beginning(&self, step: StepMetadata, beginning: &Arc<Beginning>) {
        let urn = step.urn.clone();
        self.events.emit(Event::StepStarted(step));
        let called = {
            let mut beginning = beginning.lock();
            beginning.told = true;
            beginning.called
        };
        if let Some(called) = called {
            self.events.call_began(&urn, self.host.now().saturating_duration_since(called));
        }
        let mut unreported = self.durable_events.unreported();
        // A later step of the resource may be waiting behind this one.
        if unreported.get(&urn).is_some_and(|latest| Arc::ptr_eq(latest, beginning)) {
            unreported.remove(&urn);
        }
    }

    /// Counts a step and tells of it once it is durable. Where that fails, so does the step, and the run.
    pub(in crate::driver) fn done_when_written(&self, step: Step, row: Arc<ResourceState>, written: Durability) {
        let queue = self.durable_events.queue.get_or_init(|| self.begin_reporting());
        let _ = queue.send(Message::Done { step: Box::new(step), row, written });
    }

    /// Waits until the watcher was told of all steps that were taken so far: those that are done are told of when they are
    /// durable.
    pub async fn all_told(&self) {
        if let Some(queue) = self.durable_events.queue.get() {
            let (sender, told) = oneshot::channel();
            let _ = queue.send(Message::Told(sender));
            // An error: the host has ended the run's tasks.
            let _ = told.await;
        }
    }

    fn begin_reporting(&self) -> UnboundedSender<Message> {
        let (queue, mut messages) = unbounded_channel();
        let engine = Weak::clone(&self.this);
        self.host.spawn(Box::pin(async move {
            while let Some(message) = messages.recv().await {
                let Some(engine) = engine.upgrade() else { return };
                engine.tell_message(message).await;
            }
        }));
        queue
    }

    async fn tell_message(&self, message: Message) {
        match message {
            Message::Started { step, beginning } => self.tell_beginning(*step, &beginning),
            Message::Done { step, row, written } => self.tell_when_written(&step, row, written).await,
            Message::Event(event) => self.events.emit(*event),
            Message::Told(sender) => {
                // Whoever waited may have given up.
                let _ = sender.send(());
            }
        }
    }

    async fn tell_when_written(&self, step: &Step, row: Arc<ResourceState>, written: Durability) {
        let outcome = if planted::has(Bug::DoneBeforeDurable) { Ok(()) } else { written.await };
        kill_point::reach(KillPoint::AfterOutcome);
        match outcome {
            Ok(()) => {
                self.run_state().count(step.op, &step.urn);
                self.events.emit(Event::StepDone(step.metadata(Some(row))));
            }
            Err(error) => {
                let error = self.outcome_failure(&error, Some(&row));
                self.note_failure(&step.urn, &error);
                self.events.emit(Event::StepFailed(step.metadata(step.new.clone())));
            }
        }
    }
}

#[cfg(test)]
#[path = "durable_events_tests.rs"]
mod tests;
