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

use crate::driver::actions::{Action, FlowId, Moment, Ticket, Wait};
use crate::driver::host_calls::{Durable, Listed, Lost, Reply, Work};

/// What flows leave, and what they wait for.
pub(in crate::driver) struct Exchange(AtomicRefCell<Books>);

struct Books {
    actions: Vec<Action>,
    waiting: HashMap<Ticket, oneshot::Sender<Reply>, foldhash::fast::FixedState>,
    next_ticket: Ticket,
    next_wait: u64,
    next_flow: FlowId,
    /// The flow that goes on just now.
    current: FlowId,
    moment: Moment,
    /// Flows that the run itself is to begin.
    beginning: Vec<(FlowId, OwnFlow)>,
}

/// Something that the run does of itself.
pub(in crate::driver) type OwnFlow = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send + Sync>;

/// Resolves when what was appended to the journal is durable.
pub(in crate::driver) struct Written(oneshot::Receiver<Reply>);

impl Written {
    pub(in crate::driver) async fn wait(self) -> Result<()> {
        self.0.await.ok().and_then(Durable::outcome_of).unwrap_or_else(Lost::lost)
    }
}

/// A wait that is watched.
pub(in crate::driver) struct WatchedWait<'a> {
    exchange: &'a Exchange,
    number: u64,
}

impl Drop for WatchedWait<'_> {
    fn drop(&mut self) {
        self.exchange.leave(Action::TellWait(Wait::Ended(self.number)));
    }
}

impl Exchange {
    pub(in crate::driver) fn new(moment: Moment) -> Self {
        Self(AtomicRefCell::new(Books {
            actions: Vec::new(),
            waiting: HashMap::default(),
            next_ticket: 0,
            next_wait: 0,
            next_flow: 0,
            current: 0,
            moment,
            beginning: Vec::new(),
        }))
    }

    /// Leaves something to be done outside.
    pub(in crate::driver) fn leave(&self, action: Action) {
        self.0.borrow_mut().actions.push(action);
    }

    pub(in crate::driver) fn tell(&self, event: Event) {
        self.leave(Action::Tell(event));
    }

    pub(in crate::driver) fn tell_call(&self, urn: Urn, ago: Duration) {
        self.leave(Action::TellCall(urn, ago));
    }

    /// What was left since this was last asked.
    pub(in crate::driver) fn take_actions(&self) -> Vec<Action> {
        std::mem::take(&mut self.0.borrow_mut().actions)
    }

    /// Notes what came of something; wakes the flow that waits for it.
    pub(in crate::driver) fn settle(&self, ticket: Ticket, outcome: Reply) {
        let waiting = self.0.borrow_mut().waiting.remove(&ticket);
        if let Some(waiting) = waiting {
            // The flow may have stopped waiting.
            drop(waiting.send(outcome));
        }
    }

    /// Wakes the flow that waits for something which ended without an outcome.
    pub(in crate::driver) fn lose(&self, ticket: Ticket) {
        // Dropped outside of the borrow: that wakes.
        let waiting = self.0.borrow_mut().waiting.remove(&ticket);
        drop(waiting);
    }

    pub(in crate::driver) fn set_moment(&self, moment: Moment) {
        self.0.borrow_mut().moment = moment;
    }

    /// When what is dealt with came in.
    pub(in crate::driver) fn moment(&self) -> Moment {
        self.0.borrow().moment
    }

    /// The present time as resources keep it.
    pub(in crate::driver) fn now(&self) -> String {
        self.moment().time.to_string()
    }

    /// How long the operation has taken so far.
    pub(in crate::driver) fn elapsed(&self) -> Duration {
        self.moment().elapsed
    }

    /// Has the run begin a flow of its own.
    pub(in crate::driver) fn begin(
        &self,
        flow: FlowId,
        work: impl FnOnce() -> BoxFuture<'static, ()> + Send + Sync + 'static,
    ) {
        self.0.borrow_mut().beginning.push((flow, Box::new(work)));
    }

    /// The flows of its own that the run is to begin.
    pub(in crate::driver) fn take_beginning(&self) -> Vec<(FlowId, OwnFlow)> {
        std::mem::take(&mut self.0.borrow_mut().beginning)
    }

    /// Leaves word that a resource has to wait; the wait is over when what this gives is dropped.
    pub(in crate::driver) fn begin_wait(&self, kind: ActivityKind, urn: &Urn, name: &'static str) -> WatchedWait<'_> {
        let mut books = self.0.borrow_mut();
        books.next_wait += 1;
        let number = books.next_wait;
        books.actions.push(Action::TellWait(Wait::Began { number, kind, urn: urn.clone(), name }));
        WatchedWait { exchange: self, number }
    }

    pub(in crate::driver) fn new_flow(&self) -> FlowId {
        let mut books = self.0.borrow_mut();
        books.next_flow += 1;
        books.next_flow
    }

    /// Says which flow goes on from here.
    pub(in crate::driver) fn go_on_with(&self, flow: FlowId) {
        self.0.borrow_mut().current = flow;
    }

    /// Has something done outside, and waits for its outcome.
    pub(in crate::driver) async fn ask<C: Listed>(&self, call: C) -> C::Outcome {
        let done = self.leave_work(call.into()).await;
        done.ok().and_then(C::outcome_of).unwrap_or_else(Lost::lost)
    }

    fn leave_work(&self, work: Work) -> oneshot::Receiver<Reply> {
        let (sender, receiver) = oneshot::channel();
        let mut books = self.0.borrow_mut();
        books.next_ticket += 1;
        let (ticket, flow) = (books.next_ticket, books.current);
        books.waiting.insert(ticket, sender);
        books.actions.push(Action::Do { flow, ticket, work });
        receiver
    }

    /// Appends to the journal what nobody waits for: it may wait a moment for the next record.
    pub(in crate::driver) fn append_unawaited(&self, changes: Vec<Change>) {
        self.leave(Action::Append { changes, with_next: true, awaited: None });
    }

    /// Appends to the journal. `waiting` is the flow that waits until that is durable; without it, the present one.
    pub(in crate::driver) fn append(&self, changes: Vec<Change>, with_next: bool, waiting: Option<FlowId>) -> Written {
        let (sender, receiver) = oneshot::channel();
        let mut books = self.0.borrow_mut();
        books.next_ticket += 1;
        let (ticket, flow) = (books.next_ticket, waiting.unwrap_or(books.current));
        books.waiting.insert(ticket, sender);
        books.actions.push(Action::Append { changes, with_next, awaited: Some((flow, ticket)) });
        Written(receiver)
    }
}
