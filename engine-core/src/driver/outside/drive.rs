//! Doing what one flow of a run waits for, until it is over.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};

use crate::driver::Engine;
use crate::driver::actions::{FlowId, Input, Response, WaitId};
use crate::driver::outside::post::{Letter, Post};
use crate::driver::outside_calls::{AnyOutsideCall, Reply};

/// Resolves with the flow's answer; `None` when the run is gone. When it is dropped, the flow is given up.
pub(in crate::driver) struct Driver {
    engine: Weak<Engine>,
    post: Arc<Post>,
    flow: FlowId,
    /// What is done in this task, mostly one thing at a time.
    first: Option<(WaitId, BoxFuture<'static, Reply>)>,
    others: Option<FuturesUnordered<BoxFuture<'static, (WaitId, Reply)>>>,
    /// The records that it waits for. They become durable in this order, many at once.
    records: VecDeque<(WaitId, BoxFuture<'static, Reply>)>,
    /// How much of it is done in tasks of their own.
    elsewhere: Arc<AtomicUsize>,
    over: bool,
}

impl Driver {
    pub(in crate::driver) fn new(engine: Weak<Engine>, post: Arc<Post>, flow: FlowId) -> Self {
        let (records, elsewhere) = (VecDeque::new(), Arc::default());
        Self { engine, post, flow, first: None, others: None, records, elsewhere, over: false }
    }

    /// What is done by now: all records that are durable, else the next of the other things.
    fn done(&mut self, task: &mut Context<'_>) -> Vec<Input> {
        let mut written = Vec::new();
        while let Some((wait_id, record)) = self.records.front_mut()
            && let Poll::Ready(outcome) = record.as_mut().poll(task)
        {
            written.push(Input::Done(*wait_id, outcome));
            self.records.pop_front();
        }
        if written.is_empty() {
            written.extend(self.next_done(task).map(|(wait_id, outcome)| Input::Done(wait_id, outcome)));
        }
        written
    }

    fn next_done(&mut self, task: &mut Context<'_>) -> Option<(WaitId, Reply)> {
        if let Some((wait_id, reply)) = &mut self.first
            && let Poll::Ready(outcome) = reply.as_mut().poll(task)
        {
            let wait_id = *wait_id;
            self.first = None;
            return Some((wait_id, outcome));
        }
        match self.others.as_mut()?.poll_next_unpin(task) {
            Poll::Ready(done) => done,
            Poll::Pending => None,
        }
    }
}

impl Future for Driver {
    type Output = Option<Response>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            let Some(engine) = self.engine.upgrade() else { return Poll::Ready(None) };
            let calls = match self.post.collect(self.flow, task.waker(), !self.records.is_empty()) {
                Letter::Calls(calls) => calls,
                Letter::Answer(answer) => {
                    self.over = true;
                    return Poll::Ready(Some(answer));
                }
                Letter::Closed => return Poll::Ready(None),
            };
            let idle = self.first.is_none()
                && self.records.is_empty()
                && self.others.as_ref().is_none_or(FuturesUnordered::is_empty);
            let alone = calls.len() == 1 && idle && self.elsewhere.load(Ordering::Acquire) == 0;
            for (wait_id, call) in calls {
                if matches!(call, AnyOutsideCall::Durable(_)) {
                    self.records.push_back((wait_id, engine.outside.perform(call)));
                    continue;
                }
                let beside = !alone && call.runs_user_code();
                let performed = engine.outside.perform(call);
                if !beside {
                    if self.first.is_none() {
                        self.first = Some((wait_id, performed));
                    } else {
                        let others = self.others.get_or_insert_default();
                        others.push(Box::pin(async move { (wait_id, performed.await) }));
                    }
                    continue;
                }
                // A task of its own: a method that is not async holds the thread that polls it.
                let elsewhere = Elsewhere::new(Weak::clone(&self.engine), Arc::clone(&self.elsewhere), wait_id);
                engine.spawn(Box::pin(async move { elsewhere.done(performed.await) }));
            }
            let done = self.done(task);
            if done.is_empty() {
                return Poll::Pending;
            }
            engine.take_all(done);
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.upgrade().filter(|_| !self.over) {
            engine.take(Input::Forget(self.flow));
        }
    }
}

/// Something that is done in a task of its own. The flow that waits for it hears of it also when the host drops that task,
/// or when it panics.
struct Elsewhere {
    engine: Weak<Engine>,
    count: Arc<AtomicUsize>,
    wait_id: WaitId,
    outcome: Option<Reply>,
}

impl Elsewhere {
    fn new(engine: Weak<Engine>, count: Arc<AtomicUsize>, wait_id: WaitId) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self { engine, count, wait_id, outcome: None }
    }

    fn done(mut self, outcome: Reply) {
        self.outcome = Some(outcome);
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::AcqRel);
        let Some(engine) = self.engine.upgrade() else { return };
        engine.take(match self.outcome.take() {
            Some(outcome) => Input::Done(self.wait_id, outcome),
            None => Input::Lost(self.wait_id),
        });
    }
}

#[cfg(test)]
#[path = "drive_tests.rs"]
mod tests;
