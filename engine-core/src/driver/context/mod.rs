//! What the flows of a run see: what the run knows, and the way to what is outside.

pub(super) mod call_pace;
pub(super) mod callbacks;
pub(super) mod event_queue;
pub(super) mod holders;
pub(super) mod late_calls;
pub(super) mod noticed_classes;
pub(super) mod notices;
pub(super) mod refresh_first;
pub(super) mod run_state;
pub(super) mod waits;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use atomic_refcell::{AtomicRefCell, AtomicRefMut};

use crate::event::{Diagnostic, Severity, Speaker};
use crate::message::Message;
use crate::operation::Operation;
use crate::provider::{Answer, ProviderError};
use crate::state::{Crypter, Snapshot};
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use crate::driver::actions::{FlowId, Moment};
use crate::driver::calls::plugins::PluginProvider;
use crate::driver::calls::providers::Providers;
use crate::driver::exchange::Exchange;
use crate::driver::permits::{Once, Permits, SharedOrAlone};
use crate::driver::stop::Stop;
use call_pace::WriteAheadPace;
use callbacks::Callbacks;
use event_queue::{DurableEvents, Reporting};
use late_calls::LateAnswer;
use noticed_classes::Classes;
use notices::Notices;
use refresh_first::RefreshFirst;
use run_state::RunState;

/// See the module's text.
pub(in crate::driver) struct Context {
    pub(in crate::driver) operation: Arc<Operation>,
    /// The state as the run found it.
    pub(in crate::driver) base: Arc<Snapshot>,
    /// What decrypts the secrets of the state; `None` for a state in memory.
    pub(in crate::driver) crypter: Option<Crypter>,
    pub(in crate::driver) exchange: Arc<Exchange>,
    pub(in crate::driver) providers: Providers,
    pub(in crate::driver) callbacks: Callbacks,
    run_state: AtomicRefCell<RunState>,
    /// Shared while a registration is planned, alone while one decides on deletions of others.
    pub(in crate::driver) planning: SharedOrAlone,
    /// One for each call that may be made at a time.
    pub(in crate::driver) permits: Permits,
    pub(in crate::driver) pace: WriteAheadPace,
    pub(in crate::driver) stop: Stop,
    pub(in crate::driver) refresh_first: RefreshFirst,
    pub(in crate::driver) wound_up: Once<()>,
    pub(in crate::driver) classes: Classes,
    notices: AtomicRefCell<Notices>,
    pub(in crate::driver) durable_events: DurableEvents,
    beginning: AtomicRefCell<Vec<(FlowId, Begun)>>,
}

/// A flow that the run itself begins.
pub(in crate::driver) enum Begun {
    /// Tells of steps when they are durable.
    Reporting(Reporting),
    /// Has the plugin of a provider resource configured.
    Configuring(Arc<PluginProvider>),
    /// Takes the answer of a call that was given up.
    Late(Box<LateAnswer>, Result<Answer, ProviderError>),
}

/// What is handed to a run when it begins.
pub(in crate::driver) struct Given {
    pub(in crate::driver) operation: Arc<Operation>,
    pub(in crate::driver) base: Arc<Snapshot>,
    pub(in crate::driver) crypter: Option<Crypter>,
    pub(in crate::driver) moment: Moment,
    /// Makes random names, never twice the same.
    pub(in crate::driver) new_id: Arc<dyn Fn() -> String + Send + Sync>,
}

impl Context {
    pub(in crate::driver) fn new(given: Given) -> Self {
        let Given { operation, base, crypter, moment, new_id } = given;
        let exchange = Arc::new(Exchange::new(moment));
        Self {
            providers: Providers::new(Arc::clone(&exchange), &operation, crypter.clone(), &base),
            callbacks: Callbacks::default(),
            run_state: AtomicRefCell::new(RunState::new(&operation, &base, &new_id)),
            planning: SharedOrAlone::new(),
            permits: Permits::new(operation.parallel.max(1)),
            pace: WriteAheadPace::new(operation.parallel),
            stop: Stop::default(),
            refresh_first: RefreshFirst::default(),
            wound_up: Once::default(),
            classes: Classes::default(),
            notices: AtomicRefCell::default(),
            durable_events: DurableEvents::default(),
            beginning: AtomicRefCell::default(),
            operation,
            base,
            crypter,
            exchange,
        }
    }

    pub(in crate::driver) fn run_state(&self) -> AtomicRefMut<'_, RunState> {
        self.run_state.borrow_mut()
    }

    pub(in crate::driver) fn notices(&self) -> AtomicRefMut<'_, Notices> {
        self.notices.borrow_mut()
    }

    /// Has the run begin a flow.
    pub(in crate::driver) fn begin(&self, flow: FlowId, begun: Begun) {
        self.beginning.borrow_mut().push((flow, begun));
    }

    pub(in crate::driver) fn take_beginning(&self) -> Vec<(FlowId, Begun)> {
        std::mem::take(&mut *self.beginning.borrow_mut())
    }

    /// A message from the program or from provider code; `urn` empty: from the run as a whole.
    pub(in crate::driver) fn log(&self, urn: &str, severity: Severity, message: &str, ephemeral: bool) {
        self.tell_message(logged(Speaker::Program, urn, severity, message, ephemeral));
    }

    pub(in crate::driver) fn diagnose(&self, urn: Option<&Urn>, severity: Severity, message: impl Into<Message>) {
        let urn = urn.map_or("", Urn::as_str);
        self.tell_message(logged(Speaker::Engine, urn, severity, message, false));
    }

    /// The text without the secrets that this run knows: those of the configuration, of the state, of registrations and of
    /// what providers returned. What is written down of a provider's exception goes through here.
    pub(in crate::driver) fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.operation.redactor.message(text)
    }

    /// Has the secrets that a provider returned hidden from now on.
    pub(in crate::driver) fn learn_secrets_of(&self, properties: &PropertyMap) {
        if properties.values().any(Value::contains_secret) {
            self.operation.redactor.learn_properties(properties);
        }
    }

    /// The present time as resources keep it.
    pub(in crate::driver) fn now(&self) -> String {
        self.exchange.moment().time.to_string()
    }

    /// How long the operation has taken so far.
    pub(in crate::driver) fn elapsed(&self) -> Duration {
        self.exchange.moment().elapsed
    }
}

/// A message; `urn` empty: about the run as a whole.
pub(in crate::driver) fn logged(
    speaker: Speaker,
    urn: &str,
    severity: Severity,
    message: impl Into<Message>,
    ephemeral: bool,
) -> Diagnostic {
    let urn = (!urn.is_empty()).then(|| Urn::unchecked(urn));
    Diagnostic { urn, severity, message: message.into(), ephemeral, still_waiting: false, speaker }
}
