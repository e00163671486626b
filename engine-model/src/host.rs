//! The engine's side of the border: a host whose providers live in the simulated cloud, and which writes down every call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_core::event::{Event, EventSink};
use maloko_core::provider::{
    Answer, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind, ProviderHost,
    ProviderReference, Revision,
};

use crate::cloud::{Cloud, Providers};
use crate::provider_kind::ProviderKind;
use crate::show;

/// A call that was made.
#[derive(Clone, Debug)]
pub struct Call {
    /// The resource's URN.
    pub urn: String,
    /// The method.
    pub method: &'static str,
    /// The id among the arguments; empty for `check` and `create`.
    pub id: String,
    /// With its arguments, as [`show::call`] writes it.
    pub text: String,
    /// When it began and when it ended, in a count of such moments.
    pub span: (usize, usize),
    /// Did it succeed?
    pub succeeded: bool,
}

#[derive(Default)]
struct Recorded {
    cloud: Cloud,
    calls: Vec<Call>,
    moment: usize,
    events: Vec<Event>,
}

/// The host of one operation.
pub struct Simulated {
    providers: Providers,
    /// The kinds by object number.
    objects: Vec<ProviderKind>,
    recorded: Mutex<Recorded>,
}

impl Simulated {
    /// A host over a cloud. `objects` are the provider objects' kinds, numbered from 0.
    #[must_use]
    pub fn new(providers: Providers, objects: Vec<ProviderKind>, cloud: Cloud) -> Arc<Self> {
        let recorded = Mutex::new(Recorded { cloud, ..Recorded::default() });
        Arc::new(Self { providers, objects, recorded })
    }

    fn recorded(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many calls were made so far.
    #[must_use]
    pub fn calls_so_far(&self) -> usize {
        self.recorded().calls.len()
    }

    /// How many events there were so far.
    #[must_use]
    pub fn events_so_far(&self) -> usize {
        self.recorded().events.len()
    }

    /// What exists now, the calls, and the events.
    #[must_use]
    pub fn take(&self) -> (Cloud, Vec<Call>, Vec<Event>) {
        let mut recorded = self.recorded();
        let Recorded { cloud, calls, events, .. } = std::mem::take(&mut *recorded);
        (cloud, calls, events)
    }
}

/// The description of a provider object, given the kinds of all.
#[must_use]
pub fn description(objects: &[ProviderKind], object: ObjectId) -> ProviderDescription {
    let index = usize::try_from(object).unwrap_or(usize::MAX);
    let kind = objects.get(index).copied().unwrap_or_default();
    ProviderDescription {
        reference: Arc::new(ProviderReference {
            maloko: 1,
            language: "model".to_owned(),
            module: "model".to_owned(),
            name: format!("P{object}"),
            attributes: None,
            incomplete: None,
            revision: Revision::default(),
        }),
        autonaming: None,
        limits: None,
        capabilities: kind.capabilities(),
    }
}

/// The object that a reference names.
#[must_use]
pub fn object_of(reference: &ProviderReference) -> Option<ObjectId> {
    reference.name.strip_prefix('P').and_then(|number| number.parse().ok())
}

#[async_trait]
impl ProviderHost for Simulated {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        Ok(description(&self.objects, object))
    }

    async fn rebuild(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(object_of(reference))
    }

    async fn named(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    async fn call(&self, _object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let name = call.urn.name().to_owned();
        let index = {
            let mut recorded = self.recorded();
            recorded.moment += 1;
            let id = match &call.method {
                maloko_core::provider::Method::Diff { id, .. }
                | maloko_core::provider::Method::Update { id, .. }
                | maloko_core::provider::Method::Read { id, .. }
                | maloko_core::provider::Method::Delete { id, .. } => id.clone(),
                _ => String::new(),
            };
            let begun = recorded.moment;
            recorded.calls.push(Call {
                urn: call.urn.to_string(),
                method: call.method.name(),
                id,
                text: show::call(&name, &call.method),
                span: (begun, 0),
                succeeded: false,
            });
            recorded.calls.len() - 1
        };
        // Calls that run side by side take turns here, in an order that depends on nothing but their names.
        for _ in 0..name.len() % 3 {
            tokio::task::yield_now().await;
        }
        let mut recorded = self.recorded();
        let outcome = recorded.cloud.call(&self.providers, &name, &call.method);
        recorded.moment += 1;
        let ended = recorded.moment;
        if let Some(entry) = recorded.calls.get_mut(index) {
            entry.span.1 = ended;
            // An object without an id is none that a row could name.
            let is_named = |answer: &Answer| !matches!(answer, Answer::Created { id, .. } if id.is_empty());
            entry.succeeded = outcome.as_ref().is_ok_and(is_named);
        }
        outcome
    }

    async fn callback(&self, token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(ProviderError::new(ProviderErrorKind::Raised, format!("no callback {token}")))
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        // The task tells its caller itself when it is done.
        drop(tokio::spawn(task));
    }
}

impl EventSink for Simulated {
    fn emit(&self, event: Event) {
        self.recorded().events.push(event);
    }
}
