//! The crossing between the engine's threads and one JavaScript thread.
//!
//! The engine posts messages into a queue and wakes the JavaScript thread once per batch; the JavaScript side takes
//! the whole batch, acts, and answers by the number of the call. No JavaScript value is ever held by the engine.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use napi::Status;
use napi::bindgen_prelude::Buffer;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;
use tokio::sync::oneshot;

/// Wakes the JavaScript thread; weak, so that it keeps no process alive.
pub(crate) type Wake = ThreadsafeFunction<(), (), (), Status, false, true>;

/// One message for the JavaScript side. `call` is the number under which it answers; other numbers are those of engines,
/// provider objects, requests and operations.
#[napi(discriminant = "kind", discriminant_case = "camelCase", object_from_js = false)]
pub enum Message {
    /// Call a method of a provider object, with its arguments as JSON. `configuration` is what it is configured with: 0 for the
    /// stack's configuration. `of_call` is the call's number in its run, `operation_key` that
    /// of a `create`, and empty for others; `trace_parent` and `trace_state` the W3C
    /// ones of a call that is traced, or empty.
    CallProvider {
        call: u32,
        object: f64,
        configuration: f64,
        of_call: f64,
        method: String,
        urn: String,
        operation_key: String,
        trace_parent: String,
        trace_state: String,
        arguments: String,
    },
    /// A request was answered with a protobuf message.
    Answered { request: u32, bytes: Buffer },
    /// A request failed with a gRPC status.
    Refused { request: u32, code: i32, reason: String },
    /// Tell the code of provider calls, by their numbers in the run, that nobody waits for them.
    CancelCalls { operation: u32, calls: Vec<f64> },
    /// Look up the provider object of a reference (JSON) with that method of the operation's registry.
    LookUp {
        call: u32,
        operation: u32,
        #[napi(ts_type = "'find' | 'isByHand' | 'named' | 'rebuild'")]
        method: String,
        reference: String,
    },
    /// Store a provider object as the SDK itself does.
    Serialize { call: u32, operation: u32, object: f64 },
    /// Call a function of the program, by its token, with a protobuf message.
    CallBack { call: u32, operation: u32, token: String, request: Buffer },
    /// Run the program that a description (JSON) names against an engine.
    RunProgram { call: u32, engine: f64, description: String },
    /// Run the command line once more, in a process of its own.
    RunPass { call: u32, arguments: Vec<String> },
    /// Start again under the interpreter settings that a request (JSON) asks for, if they are not in force.
    ReExecute { call: u32, request: String },
    /// Do what a command of `fleet` asks for (JSON).
    Fleet { call: u32, request: String },
    /// Name the classes of the resources that the program made.
    ResourceClasses { call: u32 },
    /// An engine cannot go on.
    Stopped { engine: f64 },
    /// From now on the engine deals with signals.
    LeaveSignals,
    /// The command line is done.
    Exit { code: i32 },
    /// An operation or invocation of the library is over, with its report (JSON).
    Finished { operation: u32, report: String },
    /// An invocation has written bytes.
    Written {
        operation: u32,
        #[napi(ts_type = "'out' | 'err'")]
        stream: String,
        bytes: Buffer,
    },
    /// An engine event (JSON) of an invocation.
    EngineEvent { operation: u32, event: String },
    /// How far the operation of an invocation has come (JSON).
    Progress { operation: u32, report: String },
}

/// The numbers of engines, objects and calls are counted up from 0: JavaScript holds them exactly.
#[expect(clippy::cast_precision_loss, reason = "counted up from 0")]
pub(crate) fn number(whole: u64) -> f64 {
    whole as f64
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
    leaving: AtomicBool,
    closed: AtomicBool,
}

// A panic while one of the short locks is held leaves nothing half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Crossing {
    pub(crate) fn new(wake: Wake) -> Self {
        Self {
            wake,
            queue: Mutex::default(),
            calls: Mutex::default(),
            last_call: AtomicU32::new(0),
            leaving: AtomicBool::default(),
            closed: AtomicBool::default(),
        }
    }

    /// Hands a message to the JavaScript thread.
    pub(crate) fn post(&self, message: Message) {
        let must_wake = {
            let mut queue = lock(&self.queue);
            queue.messages.push(message);
            !std::mem::replace(&mut queue.woken, true)
        };
        let is_closed = self.closed.load(Ordering::Acquire);
        if is_closed || must_wake && self.wake.call((), ThreadsafeFunctionCallMode::NonBlocking) != Status::Ok {
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

    /// The JavaScript side ends the process.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::Release);
    }

    /// Does the JavaScript side end the process just now?
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Acquire)
    }

    /// Gives up on every call: the JavaScript thread has ended.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        lock(&self.calls).clear();
    }
}
