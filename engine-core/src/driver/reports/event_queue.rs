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
use crate::driver::exchange::Written;

/// Reports of steps that wait for the disk, and those behind them.
#[derive(Default)]
pub(in crate::driver) struct DurableEvents(AtomicRefCell<Books>);

#[derive(Default)]
pub(in crate::driver) struct Books {
    /// The flow that tells of them, and what it is handed.
    pub(in crate::driver) reporting: Option<(FlowId, UnboundedSender<Message>)>,
    /// By resource: the latest step that began and was not told of yet.
    pub(in crate::driver) unreported: UrnMap<Arc<Beginning>>,
}

/// A step whose beginning is still to be told. Its call may overtake that: it waits for its own record to be durable,
/// the telling for those of others.
#[derive(Default)]
pub(in crate::driver) struct Beginning(pub(in crate::driver) AtomicRefCell<Told>);

#[derive(Default)]
pub(in crate::driver) struct Told {
    pub(in crate::driver) told: bool,
    /// When its provider was called.
    pub(in crate::driver) called: Option<Instant>,
}

/// What the flow is handed that tells of steps.
pub(in crate::driver) struct Reporting(pub(in crate::driver) UnboundedReceiver<Message>);

pub(in crate::driver) enum Message {
    /// A step has begun.
    Started(Box<StepMetadata>, Arc<Beginning>),
    /// A step that is done once its outcome is durable.
    Done { step: Box<Step>, resource: Arc<ResourceState>, written: Written },
    /// What comes after all that was sent before.
    Event(Box<Event>),
    /// Somebody waits until all that was sent before was told.
    Told(oneshot::Sender<()>),
}

impl DurableEvents {
    pub(in crate::driver) fn books(&self) -> AtomicRefMut<'_, Books> {
        self.0.borrow_mut()
    }

    /// Hands it to the flow that tells of steps; `false` when there is none yet.
    pub(in crate::driver) fn send(&self, message: impl FnOnce(&mut Books) -> Message) -> bool {
        let mut books = self.books();
        let Some((_, queue)) = books.reporting.clone() else { return false };
        let message = message(&mut books);
        // The flow lives as long as the run.
        drop(queue.unbounded_send(message));
        true
    }
}
