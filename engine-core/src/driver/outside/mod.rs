//! What is around a run: the one who asks it, its journal, its host, and the loop that does what it wants.
//!
//! [`Outside`] is the part that any loop needs, [`Engine`] the loop that the bindings hold. A request makes a flow in the
//! [`Run`], and the task that asked does what the flow waits for. Whatever is done comes back as an input; the run is locked
//! only while it takes that in, and never while anything is done outside.

pub(crate) mod around;
pub(super) mod closing;
pub(super) mod drive;
mod functions_in_flight;
pub(crate) mod layers;
mod perform;
pub(super) mod post;
mod slow_calls;

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_trait::async_trait;
use futures::channel::oneshot;
use futures::future::BoxFuture;
use tokio::sync::watch;

use crate::event::{Diagnostic, Event, EventSink, Severity, Speaker};
use crate::operation::Operation;
use crate::plugin::{PackageRequest, PluginClient};
use crate::provider::ProviderHost;
use crate::state::{Session, Snapshot};
use crate::urn::Urn;

use crate::driver::actions::{Action, FlowId, Input, Moment, Request, Response};
use crate::driver::answers::{NotSerialized, ProgramEnd, Report, RpcError};
use crate::driver::notice::Notice;
use crate::driver::outside_calls::AnyOutsideCall;
use crate::driver::reports::logged;
use crate::driver::reports::progress::Progress;
use crate::driver::run::Run;
use crate::driver::stop::panicked;
use around::Outside;
use drive::Driver;
use post::Post;

/// One operation on one stack. No state is shared between engines; many may run at once in one process.
pub struct Engine {
    this: Weak<Engine>,
    outside: Arc<Outside>,
    run: Mutex<Run>,
    inbox: Mutex<Inbox>,
    post: Arc<Post>,
    halted: watch::Sender<bool>,
    /// Kept while somebody watches for calls that hang.
    watching: Mutex<Option<oneshot::Sender<()>>>,
}

/// What came in and was not handed to the run yet. One thread at a time hands it over and does what the run wants, whichever
/// came with an input while nobody did; so what is wanted is done in the run's order.
#[derive(Default)]
struct Inbox {
    inputs: Vec<(Moment, Input)>,
    busy: bool,
}

impl Engine {
    /// Begins an operation. `session` holds the stack's state, `host` the live providers, `events` is told what happens.
    #[must_use]
    pub fn start(
        operation: Operation,
        session: Session,
        host: Arc<dyn ProviderHost>,
        events: Arc<dyn EventSink>,
    ) -> Arc<Self> {
        let engine = Arc::new_cyclic(|this: &Weak<Self>| {
            let late = {
                let this = Weak::clone(this);
                Arc::new(move |number, answer| {
                    if let Some(engine) = this.upgrade() {
                        engine.take(Input::Late(number, answer));
                    }
                })
            };
            let (outside, run) = Outside::new(operation, session, host, events, late);
            Self {
                this: Weak::clone(this),
                outside,
                run: Mutex::new(run),
                inbox: Mutex::default(),
                post: Arc::default(),
                halted: watch::Sender::new(false),
                watching: Mutex::default(),
            }
        });
        let client: Weak<dyn PluginClient> = Weak::<Self>::clone(&engine.this);
        engine.outside.operation.plugins.0.bind(client);
        engine.take(Input::Begin);
        engine
    }

    /// Answers a request of the program: a method of the resource monitor or the engine service (docs/rules 12.1) by
    /// its name, with and for protobuf bytes. Takes as long as the step that it asks for. Afterwards, when the run has
    /// failed or was cancelled, every call ends with code 14.
    pub async fn rpc(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, RpcError> {
        match self.ask(Request::Rpc { method: method.to_owned(), request: request.to_vec() }).await {
            Some(Response::Rpc(answer)) => answer,
            _ => Err(RpcError::unavailable()),
        }
    }

    /// Waits until the watcher knows all steps that were taken so far: those that are done are reported when they are
    /// durable.
    pub async fn all_reported(&self) {
        drop(self.ask(Request::AllReported).await);
    }

    /// Ends the operation once the program has ended: waits for calls in flight, deletes what the program no longer
    /// has (unless it failed), compacts the journal into the checkpoint and reports.
    pub async fn finish(&self, program: ProgramEnd) -> crate::error::Result<Report> {
        let answer = self.ask(Request::Finish(program)).await;
        self.end_watch();
        match answer {
            Some(Response::Finish(report)) => *report,
            _ => Err(crate::error::Error::BadState("the run ended without a report; this is a bug in maloko".into())),
        }
    }

    /// Puts the SDK's own serialised form in the place of each reference to a provider object: for a run of kind
    /// [`Load`](crate::operation::OperationKind::Load) whose program has ended. Code that another tool stored is
    /// replaced where the program has a live object for it, and left as it is otherwise.
    ///
    /// The result lists the resources that keep their reference. Nothing of the engine's own state changes.
    pub async fn serialize_providers(&self, snapshot: &mut Snapshot) -> Vec<NotSerialized> {
        match self.ask(Request::Serialize(std::mem::take(snapshot))).await {
            Some(Response::Serialize(serialized)) => {
                let (serialized, missing) = *serialized;
                *snapshot = serialized;
                missing
            }
            _ => Vec::new(),
        }
    }

    /// Resolves when the run cannot go on (a step failed, or it was cancelled), so that the host can stop waiting for
    /// a program whose requests will never be answered.
    pub async fn stopped(&self) {
        let mut halted = self.halted.subscribe();
        // The sender lives as long as `self`, so the channel cannot close.
        let _ = halted.wait_for(|halted| *halted).await;
    }

    /// Lets no call of a provider begin any more. What runs goes on and is not told, until [`Engine::cancel`], which has
    /// to follow.
    pub fn hold(&self) {
        self.take(Input::Hold);
    }

    /// Stops gracefully: nothing new begins, and what runs is told so, awaited and recorded.
    pub fn cancel(&self) {
        self.take(Input::Cancel);
    }

    /// The number of the program's requests that are being answered, and of late answers that are being recorded.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.run().all().doors.stop.in_flight()
    }

    /// A message from the program or from provider code; `urn` empty: from the run as a whole.
    pub fn log(&self, urn: &str, severity: Severity, message: &str, ephemeral: bool) {
        self.emit(logged(Speaker::Program, urn, severity, message, ephemeral));
    }

    /// Passes on what the command around the engine has to say, about the run as a whole.
    pub fn tell(&self, severity: Severity, message: &str) {
        self.emit(logged(Speaker::Engine, "", severity, message, false));
    }

    fn emit(&self, message: Diagnostic) {
        self.outside.events.emit(Event::Diagnostic(message));
    }

    /// Takes note of something that the run says at its end, once and together with the rest of its kind.
    pub fn note(&self, notice: Notice) {
        self.take(Input::Note(notice));
    }

    /// The text without the secrets that this run knows: those of the configuration, of the state, of registrations and of
    /// what providers returned. What is written down of a provider's exception goes through here.
    #[must_use]
    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.outside.operation.redactor.message(text)
    }

    /// Keeps a resource from being deleted for the only reason that this run did not register it: the host knows that
    /// the program may have it all the same. The run fails with the reason if it would be deleted.
    pub fn refuse_deletion(&self, urn: &str, reason: impl Into<String>) {
        self.take(Input::Guard(Urn::unchecked(urn), reason.into()));
    }

    /// The settings of the operation.
    #[must_use]
    pub fn operation(&self) -> &Operation {
        &self.outside.operation
    }

    /// Makes what was journalled so far durable, without waiting for anything else: for a process that is about to
    /// leave at once. The journal stays, and the next run takes up from it.
    pub async fn abandon(&self) -> crate::error::Result<()> {
        self.outside.session.abandon().await
    }

    /// The resources whose provider is being called now, with the method's name.
    #[must_use]
    pub fn calls_in_flight(&self) -> Vec<(Urn, &'static str)> {
        self.outside.in_flight.list()
    }

    /// How far the run has come. Neither stops the run nor waits for it.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.outside.progress()
    }

    /// The calls that have reached their time limit and could not be given up: something holds what the host needs for
    /// that, such as an interpreter's lock.
    #[must_use]
    pub fn overdue_calls(&self) -> Vec<(Urn, &'static str)> {
        self.outside.limits.overdue()
    }

    /// Takes note of the packages that the program's language says it uses: what asks for one of them without a version gets
    /// that one. To be told before the program runs.
    pub fn require_packages(&self, packages: Vec<PackageRequest>) {
        self.run().all().doors.providers.plugins.require(packages);
    }

    /// The functions of the program that are being called now, as errors name them: hooks and transforms.
    #[must_use]
    pub fn functions_in_flight(&self) -> Vec<String> {
        self.outside.functions_in_flight.list()
    }

    /// Is nothing being called now, neither a provider nor a function of the program?
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.calls_in_flight().is_empty() && self.functions_in_flight().is_empty()
    }

    /// The state as the run has made it so far, for hosts that keep it in memory.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.run().all().finish.snapshot()
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        // One that panicked under the lock has been told so, and ends.
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the run for something, and does what it takes.
    async fn ask(&self, request: Request) -> Option<Response> {
        let flow = self.run().new_flow();
        // First of all: when this is dropped, the flow is given up.
        let driver = Driver::new(Weak::clone(&self.this), Arc::clone(&self.post), flow);
        self.take(Input::Request(flow, request));
        driver.await
    }

    pub(in crate::driver) fn spawn(&self, task: BoxFuture<'static, ()>) {
        // The task goes with the panic, and says itself that nothing comes of it.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.outside.host.spawn(task))) {
            self.take(Input::Panicked(panicked("the host", &*panic)));
        }
    }

    /// Hands something to the run, and does what comes out. Where another thread is at it, that one does both.
    pub(in crate::driver) fn take(&self, input: Input) {
        self.take_all([input]);
    }

    /// The same with several things that came in together.
    fn take_all(&self, inputs: impl IntoIterator<Item = Input>) {
        let moment = self.outside.moment();
        let mut inbox = self.inbox();
        inbox.inputs.extend(inputs.into_iter().map(|input| (moment, input)));
        if inbox.busy {
            return;
        }
        inbox.busy = true;
        while !inbox.inputs.is_empty() {
            let inputs = std::mem::take(&mut inbox.inputs);
            drop(inbox);
            for (moment, input) in inputs {
                let mut actions = Vec::new();
                self.contain(moment, "the engine", || actions = self.run().take(moment, input));
                for action in actions {
                    self.contain(moment, "what is around the engine", || self.act(action));
                }
            }
            inbox = self.inbox();
        }
        // Under the same lock that found nothing: who comes next has to see that nobody is at it.
        inbox.busy = false;
    }

    /// Panics end here: those whose inputs and actions come behind would wait for them for ever. The run ends in order.
    fn contain(&self, moment: Moment, what: &str, work: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            self.inbox().inputs.push((moment, Input::Panicked(panicked(what, &*panic))));
        }
    }

    fn act(&self, action: Action) {
        match self.outside.act(action) {
            Some(Action::Do { flow, wait_id, call }) => {
                let is_provider_call = matches!(call, AnyOutsideCall::Call(_));
                self.post.leave(flow, wait_id, call);
                if is_provider_call {
                    self.watch_calls();
                }
            }
            Some(Action::Drive(flow)) => self.drive(flow),
            Some(Action::Answer(flow, response)) => self.post.answer(flow, response),
            Some(Action::Forgotten(flow)) => self.post.forget(flow),
            Some(Action::Halt) => drop(self.halted.send_replace(true)),
            // Done at once.
            _ => {}
        }
    }

    fn drive(&self, flow: FlowId) {
        let driver = Driver::new(Weak::clone(&self.this), Arc::clone(&self.post), flow);
        self.spawn(Box::pin(async move { drop(driver.await) }));
    }
}

#[async_trait]
impl PluginClient for Engine {
    fn say(&self, urn: &str, severity: Severity, message: &str, ephemeral: bool) {
        let message = &*self.redacted(message);
        self.emit(logged(Speaker::Engine, urn, severity, message, ephemeral));
    }

    fn found_on_path(&self, executable: &str, file: &str) {
        self.note(Notice::PluginOnPath { executable: executable.to_owned(), file: file.to_owned() });
    }

    async fn answer(&self, method: &str, request: &[u8]) -> Result<Vec<u8>, (i32, String)> {
        let unavailable = || (RpcError::unavailable().code, RpcError::unavailable().message);
        let engine = self.this.upgrade().ok_or_else(unavailable)?;
        let (sender, receiver) = oneshot::channel();
        let (method, request) = (method.to_owned(), request.to_vec());
        // Where the host wants its code to run: hooks and live children may be called for the request.
        self.spawn(Box::pin(async move {
            // A plugin that is gone waits for no answer.
            drop(sender.send(engine.rpc(&method, &request).await));
        }));
        let answer = receiver.await.map_err(|_| unavailable())?;
        answer.map_err(|error| (error.code, error.message))
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.post.close();
    }
}
