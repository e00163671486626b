//! The crossing between the engine's threads and one JavaScript thread.
//!
//! The engine posts messages into a queue and wakes the JavaScript thread once per batch; the JavaScript side takes
//! the whole batch, acts, and answers by the number of the call. No JavaScript value is ever held by the engine.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use napi::Status;
use napi::bindgen_prelude::Buffer;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use tokio::sync::oneshot;

/// Wakes the JavaScript thread; weak, so that it keeps no process alive.
pub(crate) type Wake = ThreadsafeFunction<(), (), (), Status, false, true>;

/// What a message asks of the JavaScript side.
#[napi]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// `bytes` answer the request `number`.
    Answered,
    /// The request `number` failed with gRPC status `code` and the reason `text`.
    Refused,
    /// Call `method` of the object `target` for the resource `urn`, with the arguments `text` (JSON).
    CallProvider,
    /// Tell the code of the calls `text` (JSON, their numbers) of the operation `target` that nobody waits for them.
    CancelCalls,
    /// Look up the provider object of the reference `text` (JSON) with the method `method` (`find`, `rebuild`, `named`) of the
    /// registry `target`; or `serialize` the object whose number is `text`.
    Rebuild,
    /// Call the function of the program whose token is `text`, with `bytes`, for the registry `target`.
    CallBack,
    /// Run the program that `text` (JSON) describes against the engine `target`.
    RunProgram,
    /// Run the command line once more with the arguments `text` (JSON), in a process of its own.
    RunPass,
    /// Start again under the interpreter settings that `text` (JSON) asks for, if they are not in force.
    ReExecute,
    /// The engine `target` cannot go on.
    Stopped,
    /// The command line is done, with the exit code `code`.
    Exit,
    /// The operation or invocation `number` of the library is over; `text` (JSON) is its report.
    Finished,
    /// The invocation `number` has written `bytes` to stdout (`code` 1) or stderr (2).
    Written,
    /// Name the classes of the resources that the program made (JSON).
    ResourceClasses,
    /// An engine event of the invocation `number`: `text` (JSON).
    EngineEvent,
}

/// One message for the JavaScript side; see [`MessageKind`] for which members are set.
#[napi(object)]
pub struct Message {
    /// What is wanted.
    pub kind: MessageKind,
    /// Number of the request that is answered, or of the call that wants an answer.
    pub number: u32,
    /// The engine, provider object or registry concerned.
    pub target: Option<f64>,
    /// A status or exit code.
    pub code: Option<i32>,
    /// Number of the provider's call in its run.
    pub of_call: Option<f64>,
    /// The provider method.
    pub method: Option<String>,
    /// The operation key of a `create`.
    pub operation_key: Option<String>,
    /// The resource concerned.
    pub urn: Option<String>,
    /// Text or JSON.
    pub text: Option<String>,
    /// Protobuf bytes.
    pub bytes: Option<Buffer>,
}

impl Message {
    /// A message without contents.
    pub(crate) fn new(kind: MessageKind, number: u32) -> Self {
        Self {
            kind,
            number,
            target: None,
            code: None,
            of_call: None,
            method: None,
            operation_key: None,
            urn: None,
            text: None,
            bytes: None,
        }
    }

    /// With a text.
    pub(crate) fn text(mut self, text: String) -> Self {
        self.text = Some(text);
        self
    }

    /// With the engine or object that it concerns.
    #[expect(clippy::cast_precision_loss, reason = "the numbers are counted up from 1")]
    pub(crate) fn target(mut self, target: u64) -> Self {
        self.target = Some(target as f64);
        self
    }
}

/// The JavaScript side's answer to a call.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A text, mostly JSON; empty where nothing is to be said.
    Text(String),
    /// Protobuf bytes.
    Bytes(Vec<u8>),
    /// The call failed: a description (JSON, see `error.rs`) and the number of the error object on the other side.
    Failed { description: String, error: u32 },
}

#[derive(Default)]
struct Queue {
    messages: Vec<Message>,
    woken: bool,
}

/// One JavaScript thread, as the engine's threads see it.
pub(crate) struct Crossing {
    wake: Wake,
    queue: Mutex<Queue>,
    calls: Mutex<HashMap<u32, oneshot::Sender<Reply>>>,
    last_call: AtomicU32,
}

// A panic while one of the short locks is held leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crossing {
    pub(crate) fn new(wake: Wake) -> Self {
        Self { wake, queue: Mutex::default(), calls: Mutex::default(), last_call: AtomicU32::new(0) }
    }

    /// Hands a message to the JavaScript thread.
    pub(crate) fn post(&self, message: Message) {
        let must_wake = {
            let mut queue = lock(&self.queue);
            queue.messages.push(message);
            !std::mem::replace(&mut queue.woken, true)
        };
        if must_wake && self.wake.call((), ThreadsafeFunctionCallMode::NonBlocking) != Status::Ok {
            // The thread is gone (a worker that was ended): nobody will ever answer.
            self.close();
        }
    }

    /// All messages so far.
    pub(crate) fn take(&self) -> Vec<Message> {
        let mut queue = lock(&self.queue);
        queue.woken = false;
        std::mem::take(&mut queue.messages)
    }

    /// Hands a message to the JavaScript thread and awaits its answer; `None` when the thread has ended.
    pub(crate) async fn ask(&self, message: impl FnOnce(u32) -> Message) -> Option<Reply> {
        let call = self.last_call.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let (sender, receiver) = oneshot::channel();
        lock(&self.calls).insert(call, sender);
        self.post(message(call));
        receiver.await.ok()
    }

    /// Takes the answer to a call. One that nobody waits for any more is dropped.
    pub(crate) fn reply(&self, call: u32, reply: Reply) {
        let waiting = lock(&self.calls).remove(&call);
        if let Some(sender) = waiting {
            let _ = sender.send(reply);
        }
    }

    /// Gives up on every call: the JavaScript thread has ended.
    pub(crate) fn close(&self) {
        lock(&self.calls).clear();
    }
}
