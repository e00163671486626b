//! A loop around a [`Run`] in a world: it hands the run what comes in, one after the other, and does what comes out, in
//! that order. When the outcome of a finished call comes back is the world's choice, and so is which of several comes first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::{AbortHandle, abortable};
use maloko_core::Operation;
use maloko_core::environment::Clock;
use maloko_core::event::EventSink;
use maloko_core::provider::ProviderHost;
use maloko_core::run::{Action, AnyOutsideCall, FlowId, Input, Outside, Request, Response, Run, WaitId};
use maloko_core::state::Session;

use crate::world::Machine;

/// The longest time, in milliseconds, that an outcome takes to come back; every other takes none. It is some times as long as
/// the journal takes for a record, so that what was finished later may come first.
const MAX_WAY_BACK: usize = 12;

/// See the module's text.
pub struct RunLoop {
    this: Weak<Self>,
    outside: Arc<Outside>,
    run: Mutex<Run>,
    flows: Mutex<BTreeMap<FlowId, Flow>>,
    /// What was under way when that was last written down, and what it waited for.
    flow_states: Mutex<BTreeMap<String, &'static str>>,
    machine: Machine,
}

/// What is done for a flow of the run.
#[derive(Default)]
struct Flow {
    /// Where it came from a request: who waits for the answer.
    asked: Option<oneshot::Sender<Response>>,
    calls: Vec<AbortHandle>,
}

/// What it still waits for is given up.
impl Drop for Flow {
    fn drop(&mut self) {
        for call in &self.calls {
            call.abort();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunLoop {
    /// Begins an operation; `machine` is that of its process. Its plugins cannot call back.
    #[must_use]
    pub fn start(
        operation: Operation,
        session: Session,
        host: Arc<dyn ProviderHost>,
        events: Arc<dyn EventSink>,
        machine: Machine,
    ) -> Arc<Self> {
        let begun = Arc::new_cyclic(|this: &Weak<Self>| {
            let late = {
                let this = Weak::clone(this);
                Arc::new(move |number, answer| {
                    if let Some(this) = this.upgrade() {
                        this.take(Input::Late(number, answer));
                    }
                })
            };
            let (outside, run) = Outside::new(operation, session, host, events, late);
            let this = Weak::clone(this);
            Self {
                this,
                outside,
                run: Mutex::new(run),
                flows: Mutex::default(),
                flow_states: Mutex::default(),
                machine,
            }
        });
        begun.take(Input::Begin);
        begun
    }

    /// Asks the run for something; `None` where nothing came of it.
    pub async fn ask(&self, request: Request) -> Option<Response> {
        let (sender, answer) = oneshot::channel();
        let flow = locked(&self.run).new_flow();
        locked(&self.flows).insert(flow, Flow { asked: Some(sender), calls: Vec::new() });
        self.take(Input::Request(flow, request));
        answer.await.ok()
    }

    fn take(&self, input: Input) {
        let actions = locked(&self.run).take(self.outside.moment(), input);
        if self.machine.world.follows_flows() {
            self.note_flow_states();
        }
        for action in actions {
            match self.outside.act(action) {
                Some(Action::Do { flow, wait_id, call }) => self.begin(flow, wait_id, call),
                Some(Action::Answer(flow, response)) => {
                    let flow = locked(&self.flows).remove(&flow);
                    if let Some(asked) = flow.and_then(|mut flow| flow.asked.take()) {
                        // Whoever asked may be gone with its process.
                        drop(asked.send(response));
                    }
                }
                Some(Action::Forgotten(flow)) => drop(locked(&self.flows).remove(&flow)),
                // Every call is begun here, whoever asked for it; and nobody waits for a halt: the requests of a program are
                // refused from then on.
                _ => {}
            }
        }
    }

    /// Writes down what stands elsewhere than when this was last asked.
    fn note_flow_states(&self) {
        let Machine { world, process } = &self.machine;
        let mut known = locked(&self.flow_states);
        let now: BTreeMap<String, &'static str> = locked(&self.run)
            .flow_states()
            .into_iter()
            .map(|it| {
                let what = it.op.map_or_else(|| "registration".to_owned(), |op| op.to_string());
                (format!("{what} of {}", it.urn.name()), it.waits_for)
            })
            .collect();
        for (what, waits_for) in &now {
            if known.get(what) != Some(waits_for) {
                world.note(&format!("process {process} {what} waits for {waits_for}"));
            }
        }
        for what in known.keys().filter(|what| !now.contains_key(*what)) {
            world.note(&format!("process {process} {what} goes on or is over"));
        }
        *known = now;
    }

    fn begin(&self, flow: FlowId, wait_id: WaitId, call: AnyOutsideCall) {
        let Machine { world, process } = self.machine.clone();
        let way_back = if world.below(2) == 0 { 0 } else { world.below(MAX_WAY_BACK) };
        let (this, performed, machine) = (Weak::clone(&self.this), self.outside.perform(call), self.machine.clone());
        let (task, handle) = abortable(async move {
            let outcome = performed.await;
            machine.wait(Duration::from_millis(way_back as u64)).await;
            if let Some(this) = this.upgrade() {
                this.take(Input::Done(wait_id, outcome));
            }
        });
        locked(&self.flows).entry(flow).or_default().calls.push(handle);
        world.spawn(process, Box::pin(task.map(drop)));
    }
}

#[cfg(test)]
#[path = "run_loop_tests.rs"]
mod tests;
