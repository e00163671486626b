//! How the flows of a run reach what is outside: they leave actions, and wait for their outcomes.

use std::collections::HashMap;
use std::time::Duration;

use atomic_refcell::AtomicRefCell;
use futures::channel::oneshot;
use futures::future::BoxFuture;

use crate::activity::ActivityKind;
use crate::error::Result;
use crate::event::Event;
use crate::state::Change;
use crate::urn::Urn;

use crate::driver::actions::{Action, FlowId, Moment, Wait, WaitId};
use crate::driver::outside_calls::{AnyOutsideCall, Durable, LostOutcome, Reply, RunCall};

/// What flows leave, and what they wait for.
pub(crate) struct Exchange(AtomicRefCell<Pending>);

/// Actions that were left, and waits that are not over.
struct Pending {
    actions: Vec<Action>,
    waiting: HashMap<WaitId, oneshot::Sender<Reply>, foldhash::fast::FixedState>,
    next_wait_id: WaitId,
    next_wait: u64,
    next_flow: FlowId,
    /// The flow that goes on just now.
    current: FlowId,
    moment: Moment,
    /// Flows that the run itself is to begin.
    beginning: Vec<(FlowId, OwnFlow)>,
}

/// Something that the run does of itself.
pub(crate) type OwnFlow = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send + Sync>;

/// Resolves when what was appended to the journal is durable.
pub(crate) struct PendingRecord(oneshot::Receiver<Reply>);

impl PendingRecord {
    pub(crate) async fn wait(self) -> Result<()> {
        self.0.await.ok().and_then(Durable::outcome_of).unwrap_or_else(LostOutcome::lost)
    }
}

/// A wait that is watched.
pub(crate) struct WatchedWait<'a> {
    exchange: &'a Exchange,
    number: u64,
}

impl Drop for WatchedWait<'_> {
    fn drop(&mut self) {
        self.exchange.leave(Action::NoteWait(Wait::Ended(self.number)));
    }
}

impl Exchange {
    pub(crate) fn new(moment: Moment) -> Self {
        Self(AtomicRefCell::new(Pending {
            actions: Vec::new(),
            waiting: HashMap::default(),
            next_wait_id: 0,
            next_wait: 0,
            next_flow: 0,
            current: 0,
            moment,
            beginning: Vec::new(),
        }))
    }

    /// Leaves something to be done outside.
    pub(crate) fn leave(&self, action: Action) {
        self.0.borrow_mut().actions.push(action);
    }

    pub(crate) fn emit(&self, event: Event) {
        self.leave(Action::Emit(event));
    }

    pub(crate) fn call_began(&self, urn: Urn, ago: Duration) {
        self.leave(Action::CallBegan(urn, ago));
    }

    /// What was left since this was last asked.
    pub(crate) fn take_actions(&self) -> Vec<Action> {
        std::mem::take(&mut self.0.borrow_mut().actions)
    }

    /// Notes what came of something; wakes the flow that waits for it.
    pub(crate) fn deliver(&self, wait_id: WaitId, outcome: Reply) {
        let waiting = self.0.borrow_mut().waiting.remove(&wait_id);
        if let Some(waiting) = waiting {
            // The flow may have stopped waiting.
            drop(waiting.send(outcome));
        }
    }

    /// Wakes the flow that waits for something which ended without an outcome.
    pub(crate) fn lose(&self, wait_id: WaitId) {
        // Dropped outside of the borrow: that wakes.
        let waiting = self.0.borrow_mut().waiting.remove(&wait_id);
        drop(waiting);
    }

    pub(crate) fn set_moment(&self, moment: Moment) {
        self.0.borrow_mut().moment = moment;
    }

    /// When what is dealt with came in.
    pub(crate) fn moment(&self) -> Moment {
        self.0.borrow().moment
    }

    /// The present time as resources keep it.
    pub(crate) fn now(&self) -> String {
        self.moment().time.to_string()
    }

    /// How long the operation has taken so far.
    pub(crate) fn elapsed(&self) -> Duration {
        self.moment().elapsed
    }

    /// Has the run begin a flow of its own.
    pub(crate) fn begin_flow(
        &self,
        flow: FlowId,
        work: impl FnOnce() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) {
        self.0.borrow_mut().beginning.push((flow, Box::new(work)));
    }

    /// The flows of its own that the run is to begin.
    pub(crate) fn take_beginning(&self) -> Vec<(FlowId, OwnFlow)> {
        std::mem::take(&mut self.0.borrow_mut().beginning)
    }

    /// Leaves word that a resource has to wait; the wait is over when what this gives is dropped.
    pub(crate) fn begin_wait(&self, kind: ActivityKind, urn: &Urn, name: &'static str) -> WatchedWait<'_> {
        let mut pending = self.0.borrow_mut();
        pending.next_wait += 1;
        let number = pending.next_wait;
        pending.actions.push(Action::NoteWait(Wait::Began { number, kind, urn: urn.clone(), name }));
        WatchedWait { exchange: self, number }
    }

    pub(crate) fn new_flow(&self) -> FlowId {
        let mut pending = self.0.borrow_mut();
        pending.next_flow += 1;
        pending.next_flow
    }

    /// Says which flow goes on from here.
    pub(crate) fn go_on_with(&self, flow: FlowId) {
        self.0.borrow_mut().current = flow;
    }

    /// Has something done outside, and waits for its outcome.
    pub(crate) async fn ask<C: RunCall>(&self, call: C) -> C::Outcome {
        let done = self.leave_call(call.into()).await;
        done.ok().and_then(C::outcome_of).unwrap_or_else(LostOutcome::lost)
    }

    fn leave_call(&self, call: AnyOutsideCall) -> oneshot::Receiver<Reply> {
        let (sender, receiver) = oneshot::channel();
        let mut pending = self.0.borrow_mut();
        pending.next_wait_id += 1;
        let (wait_id, flow) = (pending.next_wait_id, pending.current);
        pending.waiting.insert(wait_id, sender);
        pending.actions.push(Action::Do { flow, wait_id, call });
        receiver
    }

    /// Appends to the journal what nobody waits for: it may wait a moment for the next record.
    pub(crate) fn append_unawaited(&self, changes: Vec<Change>) {
        self.leave(Action::Append { changes, with_next: true, awaited: None });
    }

    /// Appends to the journal. `waiting` is the flow that waits until that is durable; without it, the present one.
    pub(crate) fn append(&self, changes: Vec<Change>, with_next: bool, waiting: Option<FlowId>) -> PendingRecord {
        let (sender, receiver) = oneshot::channel();
        let mut pending = self.0.borrow_mut();
        pending.next_wait_id += 1;
        let (wait_id, flow) = (pending.next_wait_id, waiting.unwrap_or(pending.current));
        pending.waiting.insert(wait_id, sender);
        pending.actions.push(Action::Append { changes, with_next, awaited: Some((flow, wait_id)) });
        PendingRecord(receiver)
    }
}
