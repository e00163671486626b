//! The live providers of the program's process, as the engine asks for them.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use maloko_core::message::Code;
use maloko_core::provider::{
    Answer, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind, ProviderHost,
    ProviderReference, SerializedProvider,
};
use maloko_rpc::lock;
use tokio::runtime::Handle;

use crate::connection::Sender;
use crate::messages::{Bytes, PartOf, Question, Reference, Reply, ToChild};

tokio::task_local! {
    /// The request of the program of which a task is part.
    pub(crate) static PART_OF: PartOf;
}

type ReplyResult = Result<Reply, ProviderError>;

/// See the module's text.
pub(crate) struct RemoteHost {
    line: Mutex<Line>,
    last_question: AtomicU64,
    questions: Mutex<HashMap<u64, oneshot::Sender<ReplyResult>>>,
    described: Mutex<HashMap<ObjectId, Result<ProviderDescription, ProviderError>>>,
    /// What the first error after the end of the process says of that.
    last_words: Mutex<String>,
    /// Where the tasks of the run are done.
    tasks: Handle,
    code: fn(Code) -> &'static str,
}

/// Where questions go.
enum Line {
    /// The process is not there yet.
    NotBegun,
    Open(Sender),
    /// It is gone, and why.
    Gone(String),
}

impl RemoteHost {
    pub(crate) fn new(tasks: Handle, code: fn(Code) -> &'static str) -> Self {
        Self {
            line: Mutex::new(Line::NotBegun),
            last_question: AtomicU64::new(0),
            questions: Mutex::default(),
            described: Mutex::default(),
            last_words: Mutex::default(),
            tasks,
            code,
        }
    }

    /// The process is there.
    pub(crate) fn open(&self, sender: Sender) {
        *lock(&self.line) = Line::Open(sender);
    }

    /// The process is gone: what was asked gets no answer, and what is asked from now on is not even heard. `last_words` goes with
    /// the first of the errors.
    pub(crate) fn lose(&self, why: &str, last_words: &str) {
        last_words.clone_into(&mut lock(&self.last_words));
        *lock(&self.line) = Line::Gone(why.to_owned());
        let mut unanswered: Vec<_> = lock(&self.questions).drain().collect();
        unanswered.sort_unstable_by_key(|(number, _)| *number);
        for (_, waiting) in unanswered {
            let words = std::mem::take(&mut *lock(&self.last_words));
            let message = format!("{why} in the middle of the call; what that has done is not known{words}");
            // Who gave up waiting knows it already.
            drop(waiting.send(Err(ProviderError::new(ProviderErrorKind::Died, message))));
        }
    }

    pub(crate) fn take_description(&self, object: ObjectId, description: Result<ProviderDescription, ProviderError>) {
        lock(&self.described).insert(object, description);
    }

    pub(crate) fn take_reply(&self, number: u64, reply: ReplyResult) {
        let waiting = lock(&self.questions).remove(&number);
        if let Some(waiting) = waiting {
            // Who gave up waiting needs no answer.
            drop(waiting.send(reply));
        }
    }

    fn send(&self, message: &ToChild) -> Result<(), ProviderError> {
        let unasked = |message: String| ProviderError::new(ProviderErrorKind::NoProvider, message);
        let sender = match &*lock(&self.line) {
            Line::Open(sender) => sender.clone(),
            Line::NotBegun => return Err(unasked("the program's process was not started".to_owned())),
            Line::Gone(why) => return Err(unasked(format!("nothing was called: {why}"))),
        };
        sender.send(message);
        Ok(())
    }

    pub(crate) async fn ask(&self, question: Question) -> ReplyResult {
        let number = self.last_question.fetch_add(1, Ordering::Relaxed) + 1;
        let (sender, receiver) = oneshot::channel();
        lock(&self.questions).insert(number, sender);
        let part_of = PART_OF.try_with(|part_of| *part_of).ok();
        if let Err(mut error) = self.send(&ToChild::Ask { number, part_of, question }) {
            lock(&self.questions).remove(&number);
            error.message.push(std::mem::take(&mut *lock(&self.last_words)));
            return Err(error);
        }
        receiver.await.unwrap_or_else(|_| {
            Err(ProviderError::new(ProviderErrorKind::Died, "the program's process was given up before it answered"))
        })
    }

    async fn look_up(&self, question: Question) -> Result<Option<ObjectId>, ProviderError> {
        match self.ask(question).await? {
            Reply::Object(object) => Ok(object),
            _ => Err(odd()),
        }
    }
}

/// An answer to another question than the one that was asked.
fn odd() -> ProviderError {
    let message = "the program's process answered something else than it was asked; this is a bug in maloko";
    ProviderError::new(ProviderErrorKind::Died, message)
}

#[async_trait]
impl ProviderHost for RemoteHost {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        lock(&self.described).get(&object).cloned().unwrap_or_else(|| {
            let message = format!("provider object {object} is not one of this run: was it kept from an earlier one?");
            Err(ProviderError::new(ProviderErrorKind::NoProvider, message))
        })
    }

    async fn find(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.look_up(Question::Find(Reference::of(reference))).await
    }

    async fn rebuild(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.look_up(Question::Rebuild(Reference::of(reference))).await
    }

    async fn named(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        self.look_up(Question::Named(Reference::of(reference))).await
    }

    async fn is_by_hand(&self, reference: &ProviderReference) -> Result<bool, ProviderError> {
        match self.ask(Question::IsByHand(Reference::of(reference))).await? {
            Reply::IsByHand(answer) => Ok(answer),
            _ => Err(odd()),
        }
    }

    async fn serialize(&self, object: ObjectId) -> Result<SerializedProvider, ProviderError> {
        match self.ask(Question::Serialize(object)).await? {
            Reply::Serialized(serialized) => Ok(serialized),
            _ => Err(odd()),
        }
    }

    async fn call(&self, object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let lets_go = matches!(call.method, Method::Close);
        if lets_go && matches!(&*lock(&self.line), Line::Gone(_)) {
            // What it had was taken from it with the process.
            return Ok(Answer::Closed);
        }
        match self.ask(Question::Call { object, call }).await? {
            Reply::Answer(answer) => Ok(answer),
            _ => Err(odd()),
        }
    }

    async fn callback(&self, token: &str, request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        match self.ask(Question::CallBack { token: token.to_owned(), request: Bytes(request) }).await? {
            Reply::Bytes(bytes) => Ok(bytes.0),
            _ => Err(odd()),
        }
    }

    fn cancel(&self, calls: &[u64]) {
        // Of a process that is gone nobody waits for a call.
        drop(self.send(&ToChild::CancelCalls(calls.to_vec())));
    }

    fn code(&self, code: Code) -> String {
        (self.code)(code).to_owned()
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        match PART_OF.try_with(|part_of| *part_of) {
            Ok(part_of) => drop(self.tasks.spawn(PART_OF.scope(PartOf { is_beside: true, ..part_of }, task))),
            Err(_) => drop(self.tasks.spawn(task)),
        }
    }
}

#[cfg(test)]
#[path = "remote_host_tests.rs"]
mod tests;
