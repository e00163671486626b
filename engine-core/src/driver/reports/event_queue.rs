//! Reports of steps that wait for the disk, and what waits behind them.

use std::sync::Arc;
use std::time::Instant;

use atomic_refcell::{AtomicRefCell, AtomicRefMut};
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender};
use futures::channel::oneshot;

use crate::event::{Event, StepMetadata};
use crate::plan::Step;
use crate::resource_state::ResourceState;
use crate::urn::UrnMap;

use crate::driver::actions::FlowId;
use crate::driver::exchange::PendingRecord;

/// Reports of steps that wait for the disk, and those behind them.
#[derive(Default)]
pub(crate) struct DurableEvents(AtomicRefCell<UnreportedSteps>);

#[derive(Default)]
pub(crate) struct UnreportedSteps {
    /// The flow that reports them, and what it is handed.
    pub(crate) reporting: Option<(FlowId, UnboundedSender<Message>)>,
    /// By resource: the latest step that began and was not reported yet.
    pub(crate) steps: UrnMap<Arc<Beginning>>,
}

/// A step whose beginning is still to be reported. Its call may overtake that: it waits for its own record to be durable,
/// the report for those of others.
#[derive(Default)]
pub(crate) struct Beginning(pub(crate) AtomicRefCell<BeginningState>);

#[derive(Default)]
pub(crate) struct BeginningState {
    pub(crate) reported: bool,
    /// When its provider was called.
    pub(crate) called: Option<Instant>,
}

/// What the flow is handed that reports steps.
pub(crate) struct ReportQueue(pub(crate) UnboundedReceiver<Message>);

pub(crate) enum Message {
    /// A step has begun.
    Started(Box<StepMetadata>, Arc<Beginning>),
    /// A step that is done once its outcome is durable.
    Done { step: Box<Step>, resource: Arc<ResourceState>, written: PendingRecord },
    /// What comes after all that was sent before.
    Event(Box<Event>),
    /// Somebody waits until all that was sent before was reported.
    AllReported(oneshot::Sender<()>),
}

impl DurableEvents {
    pub(crate) fn unreported(&self) -> AtomicRefMut<'_, UnreportedSteps> {
        self.0.borrow_mut()
    }

    /// Hands it to the flow that reports steps; `false` when there is none yet.
    pub(crate) fn send(&self, message: impl FnOnce(&mut UnreportedSteps) -> Message) -> bool {
        let mut unreported = self.unreported();
        let Some((_, queue)) = unreported.reporting.clone() else { return false };
        let message = message(&mut unreported);
        // The flow lives as long as the run.
        drop(queue.unbounded_send(message));
        true
    }
}
