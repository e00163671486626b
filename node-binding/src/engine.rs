//! The class through which the package drives engines, and its bookkeeping.

use std::ffi::OsString;
use std::sync::Arc;

use maloko_cli::LanguageAbout;
use maloko_core::autonaming::Autonaming;
use maloko_core::driver::Notice;
use maloko_core::event::Severity;
use maloko_core::provider::{CallLimits, Capabilities, ObjectId, ProviderDescription, ProviderReference};
use maloko_core::urn::Urn;
use napi::Env;
use napi::bindgen_prelude::{Buffer, BufferSlice, Function};
use napi_derive::napi;

use crate::automation;
use crate::callback::{Crossing, Message, Reply};
use crate::ending::Ending;
use crate::language_host::NodeLanguageHost;
use crate::provider::Limits;
use crate::runtime::{runtime, spawn, spawn_apart};
use crate::thread::{Invocations, Thread};

/// Status of a request to an engine that is gone: the SDK takes it as "the engine is shutting down".
const UNAVAILABLE: i32 = 14;

/// The numbers of engines and objects are counted up from 1: JavaScript holds them exactly.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive by construction")]
fn whole(number: f64) -> u64 {
    number as u64
}

/// The engine's side of one JavaScript thread.
#[napi]
pub struct Bridge {
    thread: Arc<Thread>,
}

impl Bridge {
    /// What the engine's side knows of this thread.
    pub(crate) fn thread(&self) -> Arc<Thread> {
        Arc::clone(&self.thread)
    }
}

#[napi]
impl Bridge {
    /// `wake` is called on this thread when `take` has something to give; it must not throw.
    #[napi(constructor)]
    pub fn new(wake: Function<'_, (), ()>) -> napi::Result<Self> {
        runtime()?;
        let wake = wake.build_threadsafe_function::<()>().callee_handled::<false>().weak::<true>().build()?;
        Ok(Self {
            thread: Arc::new(Thread {
                crossing: Arc::new(Crossing::new(wake)),
                descriptions: Arc::default(),
                engines: Arc::default(),
                invocations: Invocations::default(),
            }),
        })
    }

    /// All messages since the last call.
    #[napi]
    #[must_use]
    pub fn take(&self) -> Vec<Message> {
        self.thread.crossing.take()
    }

    /// Can the terminal be borrowed: does an operation of this process have one?
    #[napi]
    #[must_use]
    pub fn lends_terminal(&self) -> bool {
        maloko_cli::terminal::is_to_be_had()
    }

    /// Gives the terminal to the program, with descriptors 1 and 2, until it was given back as often; the display stands
    /// back. `false`: there is none to be had.
    #[napi]
    #[must_use]
    pub fn borrow_terminal(&self) -> bool {
        maloko_cli::terminal::borrow(maloko_cli::terminal::Reader::Prompt)
    }

    /// Ends what `borrowTerminal` began.
    #[napi]
    pub fn give_back_terminal(&self) {
        maloko_cli::terminal::give_back(maloko_cli::terminal::Reader::Prompt);
    }

    /// Answers a call with a text (JSON).
    #[napi]
    pub fn answer(&self, call: u32, text: String) {
        self.thread.crossing.reply(call, Reply::Text(text));
    }

    /// Answers a call with bytes.
    #[napi]
    pub fn answer_bytes(&self, call: u32, bytes: BufferSlice<'_>) {
        self.thread.crossing.reply(call, Reply::Bytes(bytes.to_vec()));
    }

    /// Answers a call with a failure and the number of the error object that the package keeps (0: none).
    #[napi]
    pub fn fail(&self, call: u32, description: String, error: u32) {
        self.thread.crossing.reply(call, Reply::Failed { description, error });
    }

    /// Describes a provider object: where to find it again (JSON) and which methods it has (bits: configure, check,
    /// diff, create, read, update, delete, find, close); which property is named automatically, and how long names may be;
    /// how often its class may be called (JSON).
    #[napi]
    pub fn describe(
        &self,
        object: f64,
        reference: String,
        methods: u32,
        named_property: Option<String>,
        max_length: Option<u32>,
        limits: Option<String>,
    ) -> napi::Result<()> {
        let reference: ProviderReference = serde_json::from_str(&reference)
            .map_err(|fault| napi::Error::from_reason(format!("the provider's reference cannot be read: {fault}")))?;
        let has = |bit: u32| methods & (1 << bit) != 0;
        let capabilities = Capabilities {
            configure: has(0),
            check: has(1),
            diff: has(2),
            create: has(3),
            read: has(4),
            update: has(5),
            delete: has(6),
            find: has(7),
            close: has(8),
        };
        let max_length = max_length.and_then(|length| usize::try_from(length).ok());
        let autonaming = named_property.map(|property| Autonaming { property, max_length });
        let limits = limits
            .map(|limits| serde_json::from_str::<Limits>(&limits))
            .transpose()
            .map_err(|fault| napi::Error::from_reason(format!("the provider's limits cannot be read: {fault}")))?
            .map(CallLimits::from);
        let description = ProviderDescription { reference: Arc::new(reference), capabilities, autonaming, limits };
        self.thread.descriptions.insert(whole(object), description);
        Ok(())
    }

    /// Forgets provider objects at the end of a run.
    #[napi]
    pub fn forget(&self, objects: Vec<f64>) {
        let objects: Vec<ObjectId> = objects.iter().copied().map(whole).collect();
        self.thread.descriptions.forget(&objects);
    }

    /// Sends a request of the program to an engine; the answer comes as a message with the same number.
    #[napi]
    pub fn rpc(&self, engine: f64, number: u32, method: String, request: BufferSlice<'_>) {
        let crossing = Arc::clone(&self.thread.crossing);
        let Some(engine) = self.thread.engines.get(whole(engine)) else {
            let reason = "the run is over".to_owned();
            crossing.post(Message::Refused { request: number, code: UNAVAILABLE, reason });
            return;
        };
        let request = request.to_vec();
        spawn(async move {
            let message = match engine.rpc(&method, &request).await {
                Ok(bytes) => Message::Answered { request: number, bytes: Buffer::from(bytes) },
                Err(error) => Message::Refused { request: number, code: error.code, reason: error.message },
            };
            crossing.post(message);
        });
    }

    /// A message of the program or of provider code; `level`: 0 debug, 1 info, 2 warning, 3 error, 4 printed output.
    #[napi]
    pub fn log(&self, engine: f64, urn: String, level: u32, message: String) {
        let severity = match level {
            0 => Severity::Debug,
            1 => Severity::Info,
            2 => Severity::Warning,
            3 => Severity::Error,
            _ => Severity::Output,
        };
        if let Some(engine) = self.thread.engines.get(whole(engine)) {
            engine.log(&urn, severity, &message, false);
        }
    }

    /// Keeps a resource from being deleted for the only reason that this run did not register it; the run fails with
    /// that reason if it would be.
    #[napi]
    pub fn refuse_deletion(&self, engine: f64, urn: String, reason: String) {
        if let Some(engine) = self.thread.engines.get(whole(engine)) {
            engine.refuse_deletion(&urn, reason);
        }
    }

    /// Takes note of outputs that a provider returned for the first resource of a class, and the class does not declare.
    #[napi]
    pub fn note_undeclared(&self, engine: f64, urn: String, class_name: String, outputs: Vec<String>) {
        if let Some(engine) = self.thread.engines.get(whole(engine)) {
            let how = "pass it to super() as undefined";
            engine.note(Notice::Undeclared { urn: Urn::unchecked(&urn), class: class_name, outputs, how: how.into() });
        }
    }

    /// Takes note of something about the program that is said at the end.
    #[napi]
    pub fn note(&self, engine: f64, text: String) {
        if let Some(engine) = self.thread.engines.get(whole(engine)) {
            engine.note(Notice::Said(text));
        }
    }

    /// Takes note that the code of a create asked for its operation key.
    #[napi]
    pub fn note_used_key(&self, engine: f64, urn: String) {
        if let Some(engine) = self.thread.engines.get(whole(engine)) {
            engine.note(Notice::UsedKey(Urn::unchecked(&urn)));
        }
    }

    /// Stops an engine gracefully.
    #[napi]
    pub fn cancel(&self, engine: f64) {
        if let Some(engine) = self.thread.engines.get(whole(engine)) {
            engine.cancel();
        }
    }

    /// Runs the command line with these arguments; its end comes as a message with the exit code. `command` starts it
    /// again: the executable, and what comes before the arguments.
    #[napi]
    pub fn cli_main(
        &self,
        env: Env,
        arguments: Vec<String>,
        language_version: String,
        sdk_version: String,
        installed_from: String,
        command: Vec<String>,
    ) -> napi::Result<()> {
        let executable = command.first().cloned().unwrap_or_default();
        let about =
            LanguageAbout { language_version, executable, sdk_version, installed_from, ..LanguageAbout::default() };
        let language_host = Arc::new(NodeLanguageHost::new(Arc::clone(&self.thread), about, 0).started_by(command));
        let ending = Ending::guard(env, &self.thread.crossing)?;
        spawn(async move {
            let arguments = arguments.into_iter().map(OsString::from).collect();
            maloko_cli::terminal::when_signals_are_handled(crate::signals::let_handlers_end);
            let code = maloko_cli::run(arguments, language_host).await;
            ending.end(code).await;
        });
        Ok(())
    }

    /// The package ends the process from here on.
    #[napi]
    pub fn leave(&self) {
        self.thread.crossing.leave();
    }

    /// Begins an invocation of the command line inside this process, which `request` (JSON) describes. What it writes, its
    /// engine events and its end come as messages with this number.
    #[napi]
    pub fn invoke(&self, number: u32, request: String) {
        let thread = Arc::clone(&self.thread);
        let handles = thread.invocations.begin(number);
        spawn_apart(async move {
            let report = automation::run(&thread, number, &request, handles).await;
            thread.finished(number, report);
        });
    }

    /// Asks an invocation to end gracefully, as a first Ctrl-C does.
    #[napi]
    pub fn cancel_invocation(&self, number: u32) {
        self.thread.invocations.cancel(number);
    }

    /// How far the operation of an invocation has come (JSON); `null` when it is over.
    #[napi]
    #[must_use]
    pub fn progress_of_invocation(&self, number: u32) -> Option<String> {
        self.thread.invocations.progress(number)
    }

    /// Gives up on everything: the JavaScript thread is about to end.
    #[napi]
    pub fn close(&self) {
        self.thread.crossing.close();
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        self.thread.crossing.close();
    }
}
