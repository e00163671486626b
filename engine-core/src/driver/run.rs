//! A run: what comes in is dealt with at once, and what is to be done outside comes out. It has no thread, no clock, no
//! lock and no randomness of its own.
//!
//! What a run does (a registration, a deletion, the end) is written as a flow, an `async fn` over the run's
//! [`Doors`](crate::driver::doors::Doors). The run alone polls its flows, one after the other, and only when something came in.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as TaskContext, Poll, Wake, Waker};

use atomic_refcell::AtomicRefCell;
use futures::future::BoxFuture;

use crate::driver::actions::{Action, FlowId, Input, Moment, Response};
use crate::driver::flow_states::FlowState;
use crate::driver::flows::Flows;
use crate::driver::stop::{Failure, panicked};
use crate::error::Reason;

/// See the module's text.
pub struct Run {
    all: Arc<Flows>,
    flows: HashMap<FlowId, Flow, foldhash::fast::FixedState>,
    ready: Ready,
    told_halt: bool,
}

/// Something that the run does from its beginning to its end. It gives the answer to the request that it came from.
struct Flow {
    work: BoxFuture<'static, Option<Response>>,
    waker: Waker,
    woken: Arc<FlowWaker>,
    /// Did the run begin it by itself?
    is_own: bool,
}

/// The flows that can go on, in the order in which they were woken.
type Ready = Arc<AtomicRefCell<VecDeque<FlowId>>>;

/// What wakes a flow: something that came in, or another flow.
struct FlowWaker {
    flow: FlowId,
    is_ready: AtomicBool,
    ready: Ready,
}

impl Wake for FlowWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_ready.swap(true, Ordering::Relaxed) {
            self.ready.borrow_mut().push_back(self.flow);
        }
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flows = self.flows.len();
        formatter
            .debug_struct("Run")
            .field("flows", &flows)
            .field("flow_states", &self.all.doors.flow_states)
            .finish_non_exhaustive()
    }
}

impl Run {
    pub(super) fn new(all: Arc<Flows>) -> Self {
        Self { all, flows: HashMap::default(), ready: Ready::default(), told_halt: false }
    }

    /// The flows that the run may begin.
    pub(super) fn all(&self) -> &Arc<Flows> {
        &self.all
    }

    /// What is under way: each registration and each step, and what it waits for.
    #[must_use]
    pub fn flow_states(&self) -> Vec<FlowState> {
        self.all.doors.flow_states.all()
    }

    /// A number for a flow that is about to be asked for.
    #[must_use]
    pub fn new_flow(&self) -> FlowId {
        self.all.doors.exchange.new_flow()
    }

    /// Deals with what came in, as far as that goes now. Gives what is to be done outside, in this order.
    pub fn take(&mut self, moment: Moment, input: Input) -> Vec<Action> {
        self.all.doors.exchange.set_moment(moment);
        match input {
            Input::Begin => self.all.begin_operation(),
            Input::Request(id, request) => {
                self.begin(id, false, Arc::clone(&self.all).answer(request));
            }
            Input::Forget(id) => self.forget(id),
            Input::Done(wait_id, outcome) => self.all.doors.exchange.deliver(wait_id, outcome),
            Input::Lost(wait_id) => self.all.doors.exchange.lose(wait_id),
            Input::Late(number, answer) => self.all.late_answers.come(number, answer),
            Input::Hold => self.all.doors.stop.hold(),
            Input::Cancel => {
                self.all.doors.stop.cancel();
                self.all.doors.exchange.leave(Action::CancelCalls);
            }
            Input::Guard(urn, reason) => {
                self.all.doors.selection.guard(urn, reason);
            }
            Input::Note(notice) => self.all.doors.notices.note(notice),
            Input::Panicked(message) => self.all.doors.stop.fail(Failure::new(Reason::Other, message), true),
        }
        self.go_on();
        self.all.doors.exchange.take_actions()
    }

    fn forget(&mut self, id: FlowId) {
        let given_up = self.flows.remove(&id);
        if given_up.as_ref().is_some_and(|flow| flow.is_own) {
            let message = "the program's event loop dropped a task of the run before the run was over";
            self.all.doors.stop.fail(Failure::new(Reason::Program, message), true);
        }
        drop(given_up);
        self.all.doors.exchange.leave(Action::Forgotten(id));
    }

    fn begin(&mut self, id: FlowId, is_own: bool, work: BoxFuture<'static, Option<Response>>) {
        let woken = Arc::new(FlowWaker { flow: id, is_ready: AtomicBool::new(true), ready: Arc::clone(&self.ready) });
        self.flows.insert(id, Flow { work, waker: Waker::from(Arc::clone(&woken)), woken, is_own });
        self.ready.borrow_mut().push_back(id);
    }

    /// Polls the flows until all of them wait for something outside.
    fn go_on(&mut self) {
        loop {
            self.begin_own_flows();
            let Some(id) = self.next_ready() else { break };
            self.poll(id);
        }
        if !self.told_halt && self.all.doors.stop.is_halted() {
            self.told_halt = true;
            self.all.doors.exchange.leave(Action::Halt);
        }
    }

    fn begin_own_flows(&mut self) {
        for (id, begun) in self.all.doors.exchange.take_beginning() {
            let work = async move {
                begun().await;
                None
            };
            self.begin(id, true, Box::pin(work));
            // Nobody asked for it from outside, so somebody has to be sent to do what it will wait for.
            self.all.doors.exchange.leave(Action::Drive(id));
        }
    }

    fn next_ready(&self) -> Option<FlowId> {
        self.ready.borrow_mut().pop_front()
    }

    fn poll(&mut self, id: FlowId) {
        // One that was given up may have been woken before.
        let Some(flow) = self.flows.get_mut(&id) else { return };
        flow.woken.is_ready.store(false, Ordering::Relaxed);
        self.all.doors.exchange.go_on_with(id);
        let poll = || flow.work.as_mut().poll(&mut TaskContext::from_waker(&flow.waker));
        // One that panicked is over like any other, so that whoever waits for its answer goes on; the run ends with it.
        let response = match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(Poll::Pending) => return,
            Ok(Poll::Ready(response)) => response,
            Err(panic) => {
                self.all.doors.stop.fail(Failure::new(Reason::Other, panicked("the engine", &*panic)), true);
                Some(Response::Panicked)
            }
        };
        self.flows.remove(&id);
        if let Some(response) = response {
            self.all.doors.exchange.leave(Action::Answer(id, response));
        }
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
