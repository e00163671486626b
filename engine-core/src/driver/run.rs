//! A run: what comes in is dealt with at once, and what is to be done outside comes out. It has no thread, no clock, no
//! lock and no randomness of its own.
//!
//! What a run does (a registration, a deletion, the end) is written as a flow, an `async fn` over the run's
//! [`Context`]. The run alone polls its flows, one after the other, and only when something came in.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as TaskContext, Poll, Wake, Waker};

use atomic_refcell::AtomicRefCell;
use futures::future::BoxFuture;

use crate::driver::actions::{Action, FlowId, Input, Moment, Request, Response};
use crate::driver::context::{Begun, Context};
use crate::driver::stop::{Failure, panicked};

/// See the module's text.
pub struct Run {
    context: Arc<Context>,
    flows: HashMap<FlowId, Flow, foldhash::fast::FixedState>,
    ready: Ready,
    told_halt: bool,
}

/// Something that the run does from its beginning to its end. It gives the answer to the request that it came from.
struct Flow {
    work: BoxFuture<'static, Option<Response>>,
    waker: Waker,
    woken: Arc<Woken>,
    /// Did the run begin it by itself?
    is_own: bool,
}

/// The flows that can go on, in the order in which they were woken.
type Ready = Arc<AtomicRefCell<VecDeque<FlowId>>>;

/// What wakes a flow: something that came in, or another flow.
struct Woken {
    flow: FlowId,
    is_ready: AtomicBool,
    ready: Ready,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_ready.swap(true, Ordering::Relaxed) {
            self.ready.borrow_mut().push_back(self.flow);
        }
    }
}

impl Run {
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self { context, flows: HashMap::default(), ready: Ready::default(), told_halt: false }
    }

    /// What the flows see.
    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// A number for a flow that is about to be asked for.
    #[must_use]
    pub fn new_flow(&self) -> FlowId {
        self.context.exchange.new_flow()
    }

    /// Deals with what came in, as far as that goes now. Gives what is to be done outside, in this order.
    pub fn take(&mut self, moment: Moment, input: Input) -> Vec<Action> {
        self.context.exchange.set_moment(moment);
        match input {
            Input::Begin => self.context.begin_operation(),
            Input::Request(id, request) => {
                self.begin(id, false, Context::answer(Arc::clone(&self.context), request));
            }
            Input::Forget(id) => self.forget(id),
            Input::Done(ticket, outcome) => self.context.exchange.settle(ticket, outcome),
            Input::Lost(ticket) => self.context.exchange.lose(ticket),
            Input::Late(number, answer) => self.context.come_late(number, answer),
            Input::Cancel => {
                self.context.stop.cancel();
                self.context.exchange.leave(Action::CancelCalls);
            }
            Input::Guard(urn, reason) => {
                self.context.run_state().guarded.insert(urn, reason);
            }
            Input::Note(notice) => self.context.note(notice),
            Input::Panicked(message) => self.context.stop.fail(Failure::new(message), true),
        }
        self.go_on();
        self.context.exchange.take_actions()
    }

    fn forget(&mut self, id: FlowId) {
        let given_up = self.flows.remove(&id);
        if given_up.as_ref().is_some_and(|flow| flow.is_own) {
            let message = "the program's event loop dropped a task of the run before the run was over";
            self.context.stop.fail(Failure::new(message), true);
        }
        drop(given_up);
        self.context.exchange.leave(Action::Forgotten(id));
    }

    fn begin(&mut self, id: FlowId, is_own: bool, work: BoxFuture<'static, Option<Response>>) {
        let woken = Arc::new(Woken { flow: id, is_ready: AtomicBool::new(true), ready: Arc::clone(&self.ready) });
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
        if !self.told_halt && self.context.stop.is_halted() {
            self.told_halt = true;
            self.context.exchange.leave(Action::Halt);
        }
    }

    fn begin_own_flows(&mut self) {
        for (id, begun) in self.context.take_beginning() {
            let context = Arc::clone(&self.context);
            let work = async move {
                context.follow(begun).await;
                None
            };
            self.begin(id, true, Box::pin(work));
            // Nobody asked for it from outside, so somebody has to be sent to do what it will wait for.
            self.context.exchange.leave(Action::Drive(id));
        }
    }

    fn next_ready(&self) -> Option<FlowId> {
        self.ready.borrow_mut().pop_front()
    }

    fn poll(&mut self, id: FlowId) {
        // One that was given up may have been woken before.
        let Some(flow) = self.flows.get_mut(&id) else { return };
        flow.woken.is_ready.store(false, Ordering::Relaxed);
        self.context.exchange.go_on_with(id);
        let poll = || flow.work.as_mut().poll(&mut TaskContext::from_waker(&flow.waker));
        // One that panicked is over like any other, so that whoever waits for its answer goes on; the run ends with it.
        let response = match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(Poll::Pending) => return,
            Ok(Poll::Ready(response)) => response,
            Err(panic) => {
                self.context.stop.fail(Failure::new(panicked("the engine", &*panic)), true);
                Some(Response::Panicked)
            }
        };
        self.flows.remove(&id);
        if let Some(response) = response {
            self.context.exchange.leave(Action::Answer(id, response));
        }
    }
}

impl Context {
    /// Goes through a flow that the run itself began.
    pub(in crate::driver) async fn follow(&self, begun: Begun) {
        match begun {
            Begun::Reporting(reporting) => self.report(reporting).await,
            // Told to the first resource that needs it.
            Begun::Configuring(provider) => drop(self.providers.plugins.ready(&provider).await),
            Begun::Late(late, answer) => self.take_late(*late, answer).await,
        }
    }

    /// Answers a request of the host.
    fn answer(self: Arc<Self>, request: Request) -> BoxFuture<'static, Option<Response>> {
        match request {
            Request::Rpc { method, request } => {
                Box::pin(async move { Some(Response::Rpc(self.rpc(&method, &request).await)) })
            }
            Request::AllTold => Box::pin(async move {
                self.all_told().await;
                Some(Response::AllTold)
            }),
            Request::Finish(program) => {
                Box::pin(async move { Some(Response::Finish(Box::new(self.finish(program).await))) })
            }
            Request::Serialize(mut snapshot) => Box::pin(async move {
                let missing = self.serialize_providers(&mut snapshot).await;
                Some(Response::Serialize(Box::new((snapshot, missing))))
            }),
        }
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
