//! What those who watch a run are told, and what counts as its failure.

pub(super) mod durable_events;
mod event_queue;
pub(super) mod failures;
pub(super) mod notices;
pub(super) mod progress;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use atomic_refcell::AtomicRefCell;

use crate::event::{Diagnostic, Op, Severity, Speaker};
use crate::message::Message;
use crate::operation::Operation;
use crate::urn::Urn;
use crate::value::{PropertyMap, Value};

use crate::driver::calls::providers::Providers;
use crate::driver::exchange::Exchange;
use crate::driver::selection::Selection;
use crate::driver::stop::Stop;
use event_queue::DurableEvents;
use progress::Counts;

/// See the module's text.
pub(crate) struct Reports {
    operation: Arc<Operation>,
    exchange: Arc<Exchange>,
    stop: Arc<Stop>,
    providers: Arc<Providers>,
    selection: Arc<Selection>,
    durable_events: DurableEvents,
    tally: AtomicRefCell<Tally>,
    pub(crate) counts: Arc<Counts>,
}

/// What the summary of a run says.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    /// Steps that were done, by their op.
    pub(crate) changes: BTreeMap<&'static str, u64>,
    /// Did a provider raise in a call that changes something?
    pub(crate) maybe_corrupt: bool,
}

impl Reports {
    pub(crate) fn new(
        operation: &Arc<Operation>,
        exchange: &Arc<Exchange>,
        stop: &Arc<Stop>,
        providers: &Arc<Providers>,
        selection: &Arc<Selection>,
        counts: Counts,
    ) -> Self {
        Self {
            operation: Arc::clone(operation),
            exchange: Arc::clone(exchange),
            stop: Arc::clone(stop),
            providers: Arc::clone(providers),
            selection: Arc::clone(selection),
            durable_events: DurableEvents::default(),
            tally: AtomicRefCell::default(),
            counts: Arc::new(counts),
        }
    }

    /// A message from the program or from provider code; `urn` empty: from the run as a whole.
    pub(crate) fn log(&self, urn: &str, severity: Severity, message: &str, ephemeral: bool) {
        self.emit_diagnostic(logged(Speaker::Program, urn, severity, message, ephemeral));
    }

    pub(crate) fn diagnose(&self, urn: Option<&Urn>, severity: Severity, message: impl Into<Message>) {
        let urn = urn.map_or("", Urn::as_str);
        self.emit_diagnostic(logged(Speaker::Engine, urn, severity, message, false));
    }

    /// The text without the secrets that this run knows: those of the configuration, of the state, of registrations and of
    /// what providers returned. What is written down of a provider's exception goes through here.
    pub(crate) fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.operation.redactor.message(text)
    }

    /// Has the secrets that a provider returned hidden from now on.
    pub(crate) fn learn_secrets_of(&self, properties: &PropertyMap) {
        if properties.values().any(Value::contains_secret) {
            self.operation.redactor.learn_properties(properties);
        }
    }

    /// Counts a step that was done.
    pub(crate) fn count(&self, op: Op, urn: &Urn) {
        self.count_noted(op, "", urn);
    }

    /// Counts a step that was done, by its op and its note.
    pub(crate) fn count_noted(&self, op: Op, note: &str, urn: &Urn) {
        if let Some(op) = op.counted(note)
            && !urn.is_default_provider()
        {
            *self.tally.borrow_mut().changes.entry(op.name()).or_default() += 1;
            self.counts.count_done();
        }
    }

    /// What was done so far.
    pub(crate) fn tally(&self) -> Tally {
        self.tally.borrow().clone()
    }
}

/// A message; `urn` empty: about the run as a whole.
pub(crate) fn logged(
    speaker: Speaker,
    urn: &str,
    severity: Severity,
    message: impl Into<Message>,
    ephemeral: bool,
) -> Diagnostic {
    let urn = (!urn.is_empty()).then(|| Urn::unchecked(urn));
    Diagnostic { urn, severity, message: message.into(), ephemeral, still_waiting: false, speaker }
}
