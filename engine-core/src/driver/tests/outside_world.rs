//! What is around a run, played by a test: records are durable at once, calls are answered when the test says so.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use jiff::Timestamp;

use crate::event::Event;
use crate::operation::Operation;
use crate::provider::{Answer, ProviderCall};
use crate::state::Snapshot;
use crate::urn::Urn;
use crate::value::PropertyMap;

use crate::driver::actions::{Action, Moment, WaitId};
use crate::driver::doors::{Doors, RunStart};
use crate::driver::flows::Flows;
use crate::driver::outside_calls::{AnyOutsideCall, Call, Reply};

/// See the module's text.
pub(crate) struct OutsideWorld {
    pub(crate) flows: Arc<Flows>,
    /// Calls that wait for their answer.
    pub(crate) calls: Vec<(WaitId, ProviderCall)>,
    /// What was told, and of which calls.
    pub(crate) told: Vec<Event>,
    pub(crate) called: Vec<(Urn, Duration)>,
}

impl OutsideWorld {
    pub(crate) fn new(operation: Operation) -> Self {
        let doors = Doors::new(RunStart {
            operation: Arc::new(operation),
            base: Arc::new(Snapshot::default()),
            crypter: None,
            moment: moment(),
            new_id: Arc::new(|| "random".to_owned()),
        });
        Self { flows: Arc::new(Flows::new(doors)), calls: Vec::new(), told: Vec::new(), called: Vec::new() }
    }

    /// Lets time pass.
    pub(crate) fn pass(&self, time: Duration) {
        let now = self.flows.doors.exchange.moment();
        self.flows.doors.exchange.set_moment(Moment { instant: now.instant + time, ..now });
    }

    /// Does what is wanted; says whether anything was.
    pub(crate) fn act(&mut self) -> bool {
        let actions = self.flows.doors.exchange.take_actions();
        let any = !actions.is_empty();
        for action in actions {
            match action {
                Action::Do { wait_id, call: AnyOutsideCall::Call(Call(_, call)), .. } => {
                    self.calls.push((wait_id, call));
                }
                Action::Append { awaited: Some((_, wait_id)), .. } => {
                    self.flows.doors.exchange.deliver(wait_id, Reply::Durable(Ok(())));
                }
                Action::Emit(event) => self.told.push(event),
                Action::CallBegan(urn, ago) => self.called.push((urn, ago)),
                _ => {}
            }
        }
        any
    }

    /// Answers all calls: the objects are made.
    pub(crate) fn answer_creates(&mut self) {
        for (wait_id, call) in std::mem::take(&mut self.calls) {
            let answer = Answer::created(call.urn.name(), PropertyMap::new());
            self.flows.doors.exchange.deliver(wait_id, Reply::Call(Ok(answer)));
        }
    }

    /// Goes on with something until it is over or waits for the answer of a call.
    pub(crate) fn go_on<T>(&mut self, work: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
        loop {
            if let Some(outcome) = work.now_or_never() {
                return Some(outcome);
            }
            if !self.act() {
                return None;
            }
        }
    }
}

pub(crate) fn moment() -> Moment {
    Moment { instant: Instant::now(), time: Timestamp::UNIX_EPOCH, elapsed: Duration::ZERO }
}
