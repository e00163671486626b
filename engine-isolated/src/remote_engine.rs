//! What stands for the engine in the program's process.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

use async_trait::async_trait;
use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::{BoxFuture, Either};
use futures::stream::FuturesUnordered;
use maloko_core::ProgramEngine;
use maloko_core::driver::{Notice, RpcError};
use maloko_core::event::Severity;
use maloko_core::operation::Operation;
use maloko_core::provider::{HANDLE_PREFIX, ObjectId, ProviderError, ProviderErrorKind, Spawner};
use maloko_rpc::lock;
use tokio::sync::watch;

use crate::connection::Sender;
use crate::messages::{Bytes, Description, Failure, Question, Reply, ToParent};
use crate::question_handler::QuestionHandler;

/// What comes back for a request: questions on its behalf, and at last its answer.
pub(crate) enum Incoming {
    Ask(u64, Question),
    Answered(Result<Bytes, (i32, String)>),
}

/// A request that is not answered yet.
struct Request {
    incoming: UnboundedSender<Incoming>,
    /// Runs what is part of it beside it.
    spawner: Option<Arc<Spawner>>,
}

/// See the module's text.
pub(crate) struct RemoteEngine {
    this: Weak<Self>,
    operation: Operation,
    sender: Sender,
    handler: Arc<QuestionHandler>,
    last_request: AtomicU64,
    requests: Mutex<HashMap<u64, Request>>,
    described: Mutex<HashSet<ObjectId>>,
    stopped: watch::Sender<bool>,
}

impl RemoteEngine {
    pub(crate) fn new(operation: Operation, sender: Sender, handler: Arc<QuestionHandler>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            operation,
            sender,
            handler,
            last_request: AtomicU64::new(0),
            requests: Mutex::default(),
            described: Mutex::default(),
            stopped: watch::Sender::new(false),
        })
    }

    /// The run cannot go on.
    pub(crate) fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// Hands something to whoever waits for a request; gives it back where nobody does.
    pub(crate) fn hand_to(&self, request: u64, incoming: Incoming) -> Option<Incoming> {
        let waiting = lock(&self.requests).get(&request).map(|request| request.incoming.clone());
        match waiting {
            Some(waiting) => {
                waiting.unbounded_send(incoming).err().map(futures::channel::mpsc::TrySendError::into_inner)
            }
            None => Some(incoming),
        }
    }

    /// Runs a task beside a request of which it is part.
    pub(crate) fn spawn_beside(&self, request: u64, task: BoxFuture<'static, ()>) {
        let spawner = lock(&self.requests).get(&request).and_then(|request| request.spawner.clone());
        match spawner {
            Some(spawner) => spawner(task),
            None => self.handler.host.spawn(task),
        }
    }

    /// Tells what an object is like before it is named for the first time.
    pub(crate) fn describe_once(&self, object: ObjectId) {
        if !lock(&self.described).insert(object) {
            return;
        }
        let description = match self.handler.host.describe(object) {
            Ok(description) => Ok(Description::of(&description)),
            Err(error) => Err(self.handler.failure(error)),
        };
        self.sender.send(&ToParent::Described { object, description });
    }

    /// The objects that a request names by their handles.
    fn describe_named(&self, request: &[u8]) {
        let mark = HANDLE_PREFIX.as_bytes();
        let mut rest = request;
        while let Some(at) = rest.windows(mark.len()).position(|part| part == mark) {
            rest = &rest[at + mark.len()..];
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|text| text.parse().ok());
            if let Some(object) = number {
                self.describe_once(object);
            }
        }
    }
}

/// A request that waits for its answer. One that is given up before is none any more.
struct PendingRequest<'a> {
    engine: &'a RemoteEngine,
    number: u64,
    is_answered: bool,
}

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        lock(&self.engine.requests).remove(&self.number);
        if !self.is_answered {
            self.engine.sender.send(&ToParent::Forgotten { number: self.number });
        }
    }
}

#[async_trait]
impl ProgramEngine for RemoteEngine {
    fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The provider calls that the engine makes for the request are made in here: on the thread and in the context in which they
    /// would be made if the engine were in this process.
    async fn rpc(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, RpcError> {
        self.describe_named(request);
        let number = self.last_request.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, mut incoming): (_, UnboundedReceiver<Incoming>) = unbounded();
        let spawner = self.handler.host.spawner_here().map(Arc::new);
        lock(&self.requests).insert(number, Request { incoming: sender, spawner });
        let mut pending = PendingRequest { engine: self, number, is_answered: false };
        let body = Bytes(request.to_vec());
        self.sender.send(&ToParent::Request { number, method: method.to_owned(), body });
        let mut calls = FuturesUnordered::new();
        loop {
            let next = if calls.is_empty() {
                incoming.next().await
            } else {
                match futures::future::select(incoming.next(), calls.next()).await {
                    Either::Left((next, _)) => next,
                    Either::Right(_) => continue,
                }
            };
            match next {
                Some(Incoming::Ask(number, question)) => {
                    if let Some(engine) = self.this.upgrade() {
                        calls.push(engine.answer(number, question));
                    }
                }
                Some(Incoming::Answered(answer)) => {
                    pending.is_answered = true;
                    if !calls.is_empty() {
                        // They were given up, and go on to their end: that counts all the same.
                        self.handler.host.spawn(Box::pin(async move { while calls.next().await.is_some() {} }));
                    }
                    return answer.map(|bytes| bytes.0).map_err(|(code, message)| RpcError { code, message });
                }
                None => return Err(RpcError { code: 14, message: "the deployment has been stopped".to_owned() }),
            }
        }
    }

    fn log(&self, urn: &str, severity: Severity, message: &str, ephemeral: bool) {
        let (urn, message) = (urn.to_owned(), message.to_owned());
        self.sender.send(&ToParent::Log { urn, severity, message, ephemeral });
    }

    fn note(&self, notice: Notice) {
        self.sender.send(&ToParent::Note(notice));
    }

    fn refuse_deletion(&self, urn: &str, reason: String) {
        self.sender.send(&ToParent::RefuseDeletion { urn: urn.to_owned(), reason });
    }

    fn cancel(&self) {
        self.sender.send(&ToParent::Cancel);
    }

    async fn stopped(&self) {
        let mut stopped = self.stopped.subscribe();
        // The sender lives as long as `self`.
        let _ = stopped.wait_for(|stopped| *stopped).await;
    }
}

impl RemoteEngine {
    /// Answers a question, whatever becomes of it.
    pub(crate) fn answer(self: Arc<Self>, number: u64, question: Question) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let mut replying = Replying { engine: Arc::clone(&self), number, is_done: false };
            let reply = self.handler.ask(question, |object| self.describe_once(object)).await;
            replying.is_done = true;
            self.reply(number, reply.map_err(|error| self.handler.failure(error)));
        })
    }

    fn reply(&self, number: u64, reply: Result<Reply, Failure>) {
        self.sender.send(&ToParent::Replied { number, reply });
    }
}

/// Held while a question is answered: one that is dropped before, with the task that it was answered on, is answered all the same.
struct Replying {
    engine: Arc<RemoteEngine>,
    number: u64,
    is_done: bool,
}

impl Drop for Replying {
    fn drop(&mut self) {
        if !self.is_done {
            let message = "the call was dropped before it answered; what it has done is not known";
            let error = ProviderError::new(ProviderErrorKind::Died, message);
            self.engine.reply(self.number, Err(Failure::of(error, None)));
        }
    }
}
