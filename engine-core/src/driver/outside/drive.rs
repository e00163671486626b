//! Doing what one flow of a run waits for, until it is over.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};

use crate::driver::Engine;
use crate::driver::outside::post::{Letter, Post};
use crate::driver::run::actions::{FlowId, Input, Outcome, Response, Ticket, Work};

/// Resolves with the flow's answer; `None` when the run is gone. When it is dropped, the flow is given up.
pub(in crate::driver) struct Driver {
    engine: Weak<Engine>,
    post: Arc<Post>,
    flow: FlowId,
    /// What is done in this task, mostly one thing at a time.
    first: Option<(Ticket, BoxFuture<'static, Outcome>)>,
    others: Option<FuturesUnordered<BoxFuture<'static, (Ticket, Outcome)>>>,
    /// How much of it is done in tasks of their own.
    elsewhere: Arc<AtomicUsize>,
    /// How many records it waits for.
    records: usize,
    over: bool,
}

impl Driver {
    pub(in crate::driver) fn new(engine: Weak<Engine>, post: Arc<Post>, flow: FlowId) -> Self {
        Self { engine, post, flow, first: None, others: None, elsewhere: Arc::default(), records: 0, over: false }
    }

    fn next_done(&mut self, task: &mut Context<'_>) -> Option<(Ticket, Outcome)> {
        if let Some((ticket, work)) = &mut self.first
            && let Poll::Ready(outcome) = work.as_mut().poll(task)
        {
            let ticket = *ticket;
            self.first = None;
            return Some((ticket, outcome));
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
            let works = match self.post.collect(self.flow, task.waker(), self.records > 0) {
                Letter::Works(works) => works,
                Letter::Answer(answer) => {
                    self.over = true;
                    return Poll::Ready(Some(answer));
                }
                Letter::Closed => return Poll::Ready(None),
            };
            let idle = self.first.is_none() && self.others.as_ref().is_none_or(FuturesUnordered::is_empty);
            let alone = works.len() == 1 && idle && self.elsewhere.load(Ordering::Acquire) == 0;
            for (ticket, work) in works {
                self.records += usize::from(matches!(work, Work::Durable(_)));
                let beside = !alone && work.runs_user_code();
                let performed = engine.perform(work);
                if !beside {
                    if self.first.is_none() {
                        self.first = Some((ticket, performed));
                    } else {
                        let others = self.others.get_or_insert_default();
                        others.push(Box::pin(async move { (ticket, performed.await) }));
                    }
                    continue;
                }
                // A task of its own: a method that is not async holds the thread that polls it.
                let (elsewhere, weak) = (Arc::clone(&self.elsewhere), Weak::clone(&self.engine));
                elsewhere.fetch_add(1, Ordering::AcqRel);
                engine.spawn(Box::pin(async move {
                    let outcome = performed.await;
                    elsewhere.fetch_sub(1, Ordering::AcqRel);
                    if let Some(engine) = weak.upgrade() {
                        engine.take(Input::Done(ticket, outcome));
                    }
                }));
            }
            let Some((ticket, outcome)) = self.next_done(task) else { return Poll::Pending };
            self.records -= usize::from(matches!(outcome, Outcome::Written(_)));
            engine.take(Input::Done(ticket, outcome));
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        if let Some(engine) = self.engine.upgrade() {
            engine.take(Input::Forget(self.flow));
        }
        self.post.forget(self.flow);
    }
}
