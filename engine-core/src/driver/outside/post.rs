//! What the flows of a run have left to be done, until those who drive them come for it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use crate::driver::actions::{FlowId, Response, WaitId};
use crate::driver::outside_calls::AnyOutsideCall;

/// See the module's text.
#[derive(Default)]
pub(in crate::driver) struct Post(Mutex<Boxes>);

#[derive(Default)]
struct Boxes {
    of: HashMap<FlowId, Letters, foldhash::fast::FixedState>,
    /// Nothing comes any more.
    closed: bool,
}

#[derive(Default)]
struct Letters {
    calls: Vec<(WaitId, AnyOutsideCall)>,
    answer: Option<Response>,
    waker: Option<Waker>,
    /// Does the one who drives the flow wait for a record to be durable? Records become so in their order, so a later one
    /// need not wake anybody.
    waits_for_record: bool,
}

/// What there is for the one who drives a flow.
pub(in crate::driver) enum Letter {
    /// To be made.
    Calls(Vec<(WaitId, AnyOutsideCall)>),
    /// The flow is over.
    Answer(Response),
    /// The run is gone.
    Closed,
}

impl Post {
    fn boxes(&self) -> MutexGuard<'_, Boxes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, flow: FlowId, put: impl FnOnce(&mut Letters) -> bool) {
        let waker = {
            let mut boxes = self.boxes();
            let letters = boxes.of.entry(flow).or_default();
            let wakes = put(letters);
            if wakes { letters.waker.take() } else { None }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(in crate::driver) fn leave(&self, flow: FlowId, wait_id: WaitId, call: AnyOutsideCall) {
        self.put(flow, |letters| {
            let wakes = !(letters.waits_for_record && matches!(call, AnyOutsideCall::Durable(_)));
            letters.calls.push((wait_id, call));
            wakes
        });
    }

    pub(in crate::driver) fn answer(&self, flow: FlowId, answer: Response) {
        self.put(flow, |letters| {
            letters.answer = Some(answer);
            true
        });
    }

    /// What has come for a flow; `waker` is woken when there is more. `waits_for_record`: it will come again in any case,
    /// when a record is durable.
    pub(in crate::driver) fn collect(&self, flow: FlowId, waker: &Waker, waits_for_record: bool) -> Letter {
        let mut boxes = self.boxes();
        if boxes.closed {
            return Letter::Closed;
        }
        let letters = boxes.of.entry(flow).or_default();
        if let Some(answer) = letters.answer.take() {
            boxes.of.remove(&flow);
            return Letter::Answer(answer);
        }
        match &mut letters.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        let calls = std::mem::take(&mut letters.calls);
        letters.waits_for_record =
            waits_for_record || calls.iter().any(|(_, call)| matches!(call, AnyOutsideCall::Durable(_)));
        Letter::Calls(calls)
    }

    /// Nobody comes for a flow any more.
    pub(in crate::driver) fn forget(&self, flow: FlowId) {
        let forgotten = self.boxes().of.remove(&flow);
        drop(forgotten);
    }

    /// Sends away all who wait.
    pub(in crate::driver) fn close(&self) {
        let boxes = {
            let mut boxes = self.boxes();
            boxes.closed = true;
            std::mem::take(&mut boxes.of)
        };
        for waker in boxes.into_values().filter_map(|letters| letters.waker) {
            waker.wake();
        }
    }
}

#[cfg(test)]
#[path = "post_tests.rs"]
mod tests;
