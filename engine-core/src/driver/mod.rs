//! The asynchronous part of the engine: it takes the program's requests, asks the planner, calls the providers,
//! journals, and answers.

mod calls;
mod deletion;
mod finish;
mod program;
mod recovery;
mod refresh;
mod registration;
mod run_state;
mod steps;
mod stop;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{RwLock, Semaphore};

use crate::event::{Diagnostic, Event, EventSink, Severity, Summary};
use crate::operation::Operation;
use crate::provider::{HostError, ProviderHost};
use crate::state::{Session, Snapshot};
use crate::urn::{Urn, UrnMap};

use calls::providers::Providers;
use program::callbacks::Callbacks;
use run_state::RunState;
use stop::Stop;

pub use calls::serialize::NotSerialized;

/// How the program ended.
#[derive(Clone, Default)]
pub struct ProgramEnd {
    /// `None`: it ran to its end. Otherwise the error as the user should see it, with its traceback.
    pub error: Option<String>,
    /// The host's own error object, to be raised again by a library.
    pub source: Option<HostError>,
}

/// What came of an operation.
#[derive(Clone)]
pub struct Report {
    /// The counts and the outcome.
    pub summary: Summary,
    /// Was anything written to the state? Not in a preview, nor in a run that found everything as it should be.
    pub state_written: bool,
    /// The first error that the host raised, as the object that it raised.
    pub source: Option<HostError>,
    /// The first error in words; `None` when nothing failed.
    pub error: Option<String>,
    /// The resource that the first error is about.
    pub urn: Option<Urn>,
    /// The provider's method from which the first error came, such as `create`.
    pub method: Option<&'static str>,
}

/// Why a request of the program was not answered.
#[derive(Clone, Debug)]
pub struct RpcError {
    /// gRPC status code: 2 unknown, 3 invalid argument, 5 not found, 12 unimplemented, 13 internal, 14 unavailable
    /// (the run is over: the SDKs take it as "the engine is shutting down").
    pub code: i32,
    /// What to tell the program's author.
    pub message: String,
}

impl RpcError {
    /// The run is over.
    fn unavailable() -> Self {
        Self { code: 14, message: "the deployment has been stopped".to_owned() }
    }

    fn invalid(message: impl Into<String>) -> Self {
        Self { code: 3, message: message.into() }
    }
}

/// One operation on one stack. No state is shared between engines; many may run at once in one process.
pub struct Engine {
    this: Weak<Engine>,
    operation: Arc<Operation>,
    session: Session,
    host: Arc<dyn ProviderHost>,
    events: Arc<dyn EventSink>,
    providers: Providers,
    callbacks: Callbacks,
    run_state: Mutex<RunState>,
    /// Held for reading while a registration is planned, for writing while one decides on deletions of others.
    planning: RwLock<()>,
    permits: Semaphore,
    pace: steps::write_ahead::WriteAheadPace,
    stop: Stop,
    /// Kept while somebody watches for calls that hang.
    watching: Mutex<Option<futures::channel::oneshot::Sender<()>>>,
    refresh_first: refresh::refresh_first::RefreshFirst,
    wound_up: tokio::sync::OnceCell<()>,
    /// The provider classes of which was said that they have no `read`.
    told_no_read: Mutex<BTreeSet<String>>,
    /// What must not be deleted only because this run did not register it, with the reasons.
    guarded: Mutex<UrnMap<String>>,
    classes: calls::classes::Classes,
    /// Creates that raised in an earlier run and are made again.
    made_again: recovery::unresolved_creates::ToldTogether,
    /// Creates that raised in an earlier run, and whose objects their providers do not find.
    not_found: recovery::unresolved_creates::ToldTogether,
    /// For calls of resources that have no limit of their own.
    call_limit: Option<calls::limits::Limit>,
    due: calls::limits::DueCalls,
    durable_events: steps::durable_events::DurableEvents,
    started: Duration,
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
        let operation = Arc::new(operation);
        learn_secrets(&operation, session.snapshot());
        let config = operation.config.iter();
        let hidden = |secret: bool, value: &str| if secret { "[secret]".to_owned() } else { value.to_owned() };
        events.emit(Event::Prelude(config.map(|(key, v)| (key.clone(), hidden(v.secret, &v.value))).collect()));
        let call_limit = operation
            .call_limit()
            .map(|limit| limit.map(|time| calls::limits::Limit { time, from: "the configuration 'maloko:callLimit'" }));
        let undeclared = operation.warns_of_undeclared_outputs();
        let changed_code = operation.tells_of_changed_code();
        let engine = Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            providers: Providers::new(Arc::clone(&host), &operation),
            callbacks: Callbacks::default(),
            run_state: Mutex::new(RunState::new(&operation, &session)),
            planning: RwLock::new(()),
            permits: Semaphore::new(operation.parallel.clamp(1, Semaphore::MAX_PERMITS)),
            pace: steps::write_ahead::WriteAheadPace::new(operation.parallel),
            stop: Stop::default(),
            watching: Mutex::default(),
            refresh_first: refresh::refresh_first::RefreshFirst::default(),
            wound_up: tokio::sync::OnceCell::new(),
            told_no_read: Mutex::default(),
            guarded: Mutex::default(),
            classes: calls::classes::Classes::default(),
            made_again: recovery::unresolved_creates::ToldTogether::default(),
            not_found: recovery::unresolved_creates::ToldTogether::default(),
            call_limit: call_limit.clone().ok().flatten(),
            due: calls::limits::DueCalls::default(),
            durable_events: steps::durable_events::DurableEvents::default(),
            started: session.environment().clock.elapsed(),
            operation,
            session,
            host,
            events,
        });
        for message in [call_limit.err(), undeclared.err(), changed_code.err()].into_iter().flatten() {
            engine.diagnose(None, Severity::Error, message.clone());
            engine.stop.fail(stop::Failure::new(message), true);
        }
        engine.tell_of_interrupted_operations();
        engine.refuse_ambiguous_targets();
        engine
    }

    /// Resolves when the run cannot go on (a step failed, or it was cancelled), so that the host can stop waiting for
    /// a program whose requests will never be answered.
    pub async fn stopped(&self) {
        self.stop.wait().await;
    }

    /// Stops gracefully: nothing new begins, and what runs is told so, awaited and recorded.
    pub fn cancel(&self) {
        self.stop.cancel();
        self.providers.cancel_calls();
    }

    /// The number of the program's requests that are being answered.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.stop.in_flight()
    }

    /// A message from the program or from provider code; `urn` empty: from the run as a whole.
    pub fn log(&self, urn: &str, severity: Severity, message: &str, ephemeral: bool) {
        let urn = (!urn.is_empty()).then(|| Urn::unchecked(urn));
        let message = message.to_owned();
        self.events.emit(Event::Diagnostic(Diagnostic { urn, severity, message, ephemeral, still_waiting: false }));
    }

    /// The text without the secrets that this run knows: those of the configuration, of the state, of registrations and of
    /// what providers returned. What is written down of a provider's exception goes through here.
    #[must_use]
    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.operation.redactor.message(text)
    }

    /// Keeps a resource from being deleted for the only reason that this run did not register it: the host knows that
    /// the program may have it all the same. The run fails with the reason if it would be deleted.
    pub fn refuse_deletion(&self, urn: &str, reason: impl Into<String>) {
        let mut guarded = self.guarded.lock().unwrap_or_else(PoisonError::into_inner);
        guarded.insert(Urn::unchecked(urn), reason.into());
    }

    /// The settings of the operation.
    #[must_use]
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Makes what was journalled so far durable, without waiting for anything else: for a process that is about to
    /// leave at once. The journal stays, and the next run takes up from it.
    pub async fn abandon(&self) -> crate::error::Result<()> {
        self.session.abandon().await
    }

    /// The resources whose provider is being called now, with the method's name.
    #[must_use]
    pub fn calls_in_flight(&self) -> Vec<(Urn, &'static str)> {
        self.providers.calls_in_flight()
    }

    /// The present time as rows keep it.
    fn now(&self) -> String {
        self.session.environment().clock.now().to_string()
    }

    /// How long the operation has taken so far.
    fn elapsed(&self) -> Duration {
        self.session.environment().clock.elapsed().saturating_sub(self.started)
    }

    /// The calls that have reached their time limit and could not be given up: something holds what the host needs for
    /// that, such as an interpreter's lock.
    #[must_use]
    pub fn overdue_calls(&self) -> Vec<(Urn, &'static str)> {
        self.due.overdue(self.host.now())
    }

    fn run_state(&self) -> MutexGuard<'_, RunState> {
        // A panic elsewhere must not take the state along: the book is changed by whole steps only.
        self.run_state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn diagnose(&self, urn: Option<&Urn>, severity: Severity, message: impl Into<String>) {
        let diagnostic =
            Diagnostic { urn: urn.cloned(), severity, message: message.into(), ephemeral: false, still_waiting: false };
        self.events.emit(Event::Diagnostic(diagnostic));
    }
}

/// Has the secrets of the configuration and of the state hidden.
fn learn_secrets(operation: &Operation, snapshot: &Snapshot) {
    let redactor = &operation.redactor;
    for entry in operation.config.values().filter(|entry| entry.secret) {
        redactor.learn(&entry.value);
    }
    let pending = snapshot.pending.iter().map(|pending| &pending.row);
    let unresolved_creates = snapshot.unresolved_creates.iter().map(|unresolved| &unresolved.row);
    for row in snapshot.rows.iter().chain(pending).chain(unresolved_creates) {
        for properties in std::iter::once(&row.inputs).chain(&row.outputs) {
            redactor.learn_properties(properties);
        }
    }
}

/// The configuration as programs and providers get it.
fn plain_config(operation: &Operation) -> BTreeMap<String, String> {
    operation.config.iter().map(|(key, entry)| (key.clone(), entry.value.clone())).collect()
}
