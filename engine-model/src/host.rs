//! The engine's side of the border: a host whose providers live in the simulated cloud, and which writes down every call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_core::Urn;
use maloko_core::environment::Clock;
use maloko_core::event::{Event, EventSink};
use maloko_core::plugin::{PackageRequest, PluginAnswer, PluginClient, PluginHost, PluginQuestion};
use maloko_core::provider::{
    Answer, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind, ProviderHost,
    ProviderReference, Revision,
};

use crate::cloud::{Cloud, Outcome, Providers};
use crate::plugins::{Plugins, as_method, shown_call};
use crate::provider_kind::ProviderKind;
use crate::show;
use crate::world::Machine;

/// The longest time that a call takes, in milliseconds.
const MAX_CALL_TIME: usize = 8;

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
struct HostState {
    cloud: Cloud,
    plugins: Plugins,
    calls: Vec<Call>,
    moment: usize,
    events: Vec<Event>,
}

/// The host of one operation.
pub struct SimulatedHost {
    providers: Providers,
    /// The kinds by object number.
    objects: Vec<ProviderKind>,
    state: Mutex<HostState>,
    machine: Machine,
    base: Instant,
}

impl SimulatedHost {
    /// A host over a cloud. `objects` are the provider objects' kinds, numbered from 0.
    #[must_use]
    pub fn new(machine: Machine, providers: Providers, objects: Vec<ProviderKind>, cloud: Cloud) -> Arc<Self> {
        let state = Mutex::new(HostState { cloud, ..HostState::default() });
        Arc::new(Self { providers, objects, state, machine, base: Instant::now() })
    }

    fn state(&self) -> MutexGuard<'_, HostState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a call down, and makes it.
    async fn record(
        &self,
        urn: &Urn,
        method: &Method,
        text: String,
        call: impl FnOnce(&mut HostState) -> Outcome + Send,
    ) -> Outcome {
        let index = {
            let mut state = self.state();
            state.moment += 1;
            let id = match method {
                Method::Diff { id, .. }
                | Method::Update { id, .. }
                | Method::Read { id, .. }
                | Method::Delete { id, .. } => id.clone(),
                _ => String::new(),
            };
            let begun = state.moment;
            state.calls.push(Call {
                urn: urn.to_string(),
                method: method.name(),
                id,
                text,
                span: (begun, 0),
                succeeded: false,
            });
            state.calls.len() - 1
        };
        let time = self.machine.world.below(MAX_CALL_TIME);
        self.machine.wait(Duration::from_millis(time as u64)).await;
        let mut state = self.state();
        let outcome = call(&mut state);
        state.moment += 1;
        let ended = state.moment;
        if let Some(entry) = state.calls.get_mut(index) {
            entry.span.1 = ended;
            // An object without an id is none that a resource could name.
            let is_named = |answer: &Answer| !matches!(answer, Answer::Created { id, .. } if id.is_empty());
            entry.succeeded = outcome.as_ref().is_ok_and(is_named);
        }
        outcome
    }

    /// How many calls were made so far.
    #[must_use]
    pub fn calls_so_far(&self) -> usize {
        self.state().calls.len()
    }

    /// How many events there were so far.
    #[must_use]
    pub fn events_so_far(&self) -> usize {
        self.state().events.len()
    }

    /// What exists now, the calls, and the events.
    #[must_use]
    pub fn take(&self) -> (Cloud, Vec<Call>, Vec<Event>) {
        let mut state = self.state();
        let HostState { cloud, calls, events, .. } = std::mem::take(&mut *state);
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
            lacks_delete: false,
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
impl ProviderHost for SimulatedHost {
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
        let text = show::call(&name, &call.method);
        self.record(&call.urn, &call.method, text, |state| state.cloud.call(&self.providers, &name, &call.method)).await
    }

    async fn callback(&self, token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(ProviderError::new(ProviderErrorKind::Raised, format!("no callback {token}")))
    }

    fn now(&self) -> Instant {
        self.base + self.machine.elapsed()
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        Clock::wait(&self.machine, time)
    }

    fn spawn(&self, task: BoxFuture<'static, ()>) {
        self.machine.world.spawn(self.machine.process, task);
    }
}

impl EventSink for SimulatedHost {
    fn emit(&self, event: Event) {
        self.state().events.push(event);
    }
}

#[async_trait]
impl PluginHost for SimulatedHost {
    fn bind(&self, _engine: Weak<dyn PluginClient>) {}

    async fn start(&self, _package: &PackageRequest, provider: &Urn) -> Result<ObjectId, ProviderError> {
        self.state().plugins.start(&self.providers, provider.name())
    }

    async fn ask(&self, plugin: ObjectId, question: PluginQuestion) -> Result<PluginAnswer, ProviderError> {
        let ask = |state: &mut HostState| state.plugins.ask(&self.providers, plugin, &question);
        let (PluginQuestion::CheckConfig { urn, .. } | PluginQuestion::DiffConfig { urn, .. }, Some((method, told))) =
            (&question, as_method(&question))
        else {
            // A configuration has no place among the calls of a run: it goes on beside them.
            return ask(&mut self.state());
        };
        let text = shown_call(urn.name(), &method, Some(&told), "its own");
        let mut answer = None;
        let outcome = self.record(urn, &method, text, |state| match ask(state) {
            Ok(given) => {
                answer = Some(given);
                Ok(Answer::Configured)
            }
            Err(error) => Err(error),
        });
        outcome.await?;
        answer.ok_or_else(|| ProviderError::new(ProviderErrorKind::BadReturn, "no answer"))
    }

    async fn call(&self, plugin: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let name = call.urn.name().to_owned();
        let by = self.state().plugins.label(plugin);
        let text = shown_call(&name, &call.method, call.for_plugin.as_deref(), &by);
        self.record(&call.urn, &call.method, text, |state| {
            let HostState { cloud, plugins, .. } = state;
            plugins.call(cloud, &self.providers, plugin, &name, &call)
        })
        .await
    }

    async fn call_back(&self, target: &str, _token: &str, _request: Vec<u8>) -> Result<Vec<u8>, ProviderError> {
        Err(ProviderError::new(ProviderErrorKind::Raised, format!("no functions at {target}")))
    }

    fn cancel(&self) {}

    async fn stop(&self, plugin: ObjectId) {
        self.state().plugins.end(plugin);
    }

    async fn stop_all(&self) {}
}
