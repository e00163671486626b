//! Steps are told of when they are durable; the program need not wait for that.
//!
//! The outcome of a call goes to the journal, and the answer to the program. What the program registers next is journalled
//! after it, so one flush makes the outcome and the next intent durable, and no provider is called before. Only those who
//! are told that a step is done wait for the disk, and everything that is told of steps keeps its order.

use std::sync::{Arc, OnceLock, Weak};

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::event::Event;
use crate::kill_point::{self, KillPoint};
use crate::plan::Step;
use crate::planted::{self, Bug};
use crate::row::Row;
use crate::state::Ticket;

use super::Engine;

/// What is told of steps, once there is something that waits for the disk.
#[derive(Default)]
pub(super) struct Telling(OnceLock<UnboundedSender<Message>>);

enum Message {
    /// A step that is done once its outcome is durable.
    Done { step: Box<Step>, row: Arc<Row>, written: Ticket },
    /// What comes after all that was sent before.
    Event(Box<Event>),
    /// Somebody waits until all that was sent before was told.
    Told(oneshot::Sender<()>),
}

impl Engine {
    /// Tells of a step, after all that was said of steps before.
    pub(super) fn tell(&self, event: Event) {
        match self.telling.0.get() {
            Some(queue) => {
                // The one that listens is only gone when the host has ended the run's tasks.
                let _ = queue.send(Message::Event(Box::new(event)));
            }
            None => self.events.emit(event),
        }
    }

    /// Counts a step and tells of it once it is durable. Where that fails, so does the step, and the run.
    pub(super) fn done_when_written(&self, step: Step, row: Arc<Row>, written: Ticket) {
        let queue = self.telling.0.get_or_init(|| self.begin_telling());
        let _ = queue.send(Message::Done { step: Box::new(step), row, written });
    }

    /// Waits until the watcher was told of all steps that were taken so far: those that are done are told of when they are
    /// durable.
    pub async fn all_told(&self) {
        if let Some(queue) = self.telling.0.get() {
            let (sender, told) = oneshot::channel();
            let _ = queue.send(Message::Told(sender));
            // An error: the host has ended the run's tasks.
            let _ = told.await;
        }
    }

    fn begin_telling(&self) -> UnboundedSender<Message> {
        let (queue, mut messages) = unbounded_channel();
        let engine = Weak::clone(&self.this);
        self.host.spawn(Box::pin(async move {
            while let Some(message) = messages.recv().await {
                let Some(engine) = engine.upgrade() else { return };
                match message {
                    Message::Done { step, row, written } => engine.tell_when_written(&step, row, written).await,
                    Message::Event(event) => engine.events.emit(*event),
                    Message::Told(sender) => {
                        // Whoever waited may have given up.
                        let _ = sender.send(());
                    }
                }
            }
        }));
        queue
    }

    async fn tell_when_written(&self, step: &Step, row: Arc<Row>, written: Ticket) {
        let outcome = if planted::has(Bug::DoneBeforeDurable) { Ok(()) } else { written.await };
        kill_point::reach(KillPoint::AfterOutcome);
        match outcome {
            Ok(()) => {
                self.book().count(step.op, &step.urn);
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
