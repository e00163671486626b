//! Whether a run goes on, and what is still in flight when it does not.

use std::any::Any;

use atomic_refcell::AtomicRefCell;
use futures::channel::oneshot;

use crate::error::Reason;
use crate::event::Outcome;
use crate::message::Message;
use crate::provider::{HostError, Transience};
use crate::urn::Urn;

/// The first thing that went wrong.
#[derive(Clone, Default)]
pub(super) struct Failure {
    pub(super) reason: Reason,
    pub(super) message: Message,
    pub(super) source: Option<HostError>,
    /// The resource that it is about.
    pub(super) urn: Option<Urn>,
    /// The provider's method that failed.
    pub(super) method: Option<&'static str>,
    /// Where the provider says so: it may pass.
    pub(super) transience: Option<Transience>,
    /// The stack that is missing: `project/stack`.
    pub(super) needs: Option<String>,
}

impl Failure {
    /// Nothing more is known of it.
    pub(super) fn new(reason: Reason, message: impl Into<Message>) -> Self {
        Self { reason, message: message.into(), ..Self::default() }
    }
}

/// What is said of a panic.
pub(super) fn panicked(what: &str, panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    format!("{what} panicked, which is a fault of maloko: {text}")
}

/// Ends a run, once, and knows when all of its requests are answered.
#[derive(Default)]
pub(super) struct Stop(AtomicRefCell<State>);

#[derive(Default)]
struct State {
    /// The run is about to be stopped: until it is, nothing new begins.
    held: bool,
    halted: bool,
    cancelled: bool,
    failure: Option<Failure>,
    in_flight: usize,
    /// Who waits for the run to be stopped.
    for_halt: Vec<oneshot::Sender<()>>,
    /// Who waits until no [`Flight`] is held.
    for_idle: Vec<oneshot::Sender<()>>,
}

impl State {
    fn halt(&mut self) {
        self.halted = true;
        // Dropped: that wakes those who wait.
        self.for_halt.clear();
    }
}

/// Held while a request is answered, or an answer that came late is recorded.
pub(super) struct Flight<'a>(&'a Stop);

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut state = self.0.0.borrow_mut();
        state.in_flight -= 1;
        if state.in_flight == 0 {
            // Dropped: that wakes those who wait.
            state.for_idle.clear();
        }
    }
}

impl Stop {
    pub(super) fn enter(&self) -> Flight<'_> {
        self.0.borrow_mut().in_flight += 1;
        Flight(self)
    }

    pub(super) fn in_flight(&self) -> usize {
        self.0.borrow().in_flight
    }

    /// Has the run been stopped?
    pub(super) fn is_halted(&self) -> bool {
        self.0.borrow().halted
    }

    /// Notes a failure; the first one is kept. `halt` says whether the run ends with it.
    pub(super) fn fail(&self, failure: Failure, halt: bool) {
        let mut state = self.0.borrow_mut();
        state.failure.get_or_insert(failure);
        if halt {
            state.halt();
        }
    }

    /// Lets nothing new begin until the run is stopped, which has to follow.
    pub(super) fn hold(&self) {
        self.0.borrow_mut().held = true;
    }

    /// Resolves at once, unless the run is about to be stopped: then when it is.
    pub(super) async fn wait_while_held(&self) {
        let is_held = self.0.borrow().held;
        if is_held {
            self.wait().await;
        }
    }

    /// Stops a run that is about to be stopped: its program has ended before.
    pub(super) fn cancel_if_held(&self) {
        if self.0.borrow().held {
            self.cancel();
        }
    }

    pub(super) fn cancel(&self) {
        let mut state = self.0.borrow_mut();
        state.cancelled = true;
        state.halt();
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        self.0.borrow().failure.clone()
    }

    pub(super) fn outcome(&self) -> Outcome {
        let state = self.0.borrow();
        if state.cancelled {
            Outcome::Cancelled
        } else if state.failure.is_some() {
            Outcome::Failed
        } else {
            Outcome::Succeeded
        }
    }

    /// Resolves when the run is stopped.
    pub(super) async fn wait(&self) {
        let halt = {
            let mut state = self.0.borrow_mut();
            if state.halted {
                return;
            }
            let (sender, halt) = oneshot::channel();
            state.for_halt.push(sender);
            halt
        };
        // Ends with an error always: nothing is sent.
        let _ = halt.await;
    }

    /// Resolves when no [`Flight`] is held.
    pub(super) async fn idle(&self) {
        loop {
            let idle = {
                let mut state = self.0.borrow_mut();
                if state.in_flight == 0 {
                    return;
                }
                let (sender, idle) = oneshot::channel();
                state.for_idle.push(sender);
                idle
            };
            // Ends with an error always: nothing is sent.
            let _ = idle.await;
        }
    }
}
