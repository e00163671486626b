//! The simulated cloud as a process reaches it: every call takes its time on the way there and on the way back, and the
//! process may be gone at either end of it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::BoxFuture;
use maloko_core::Value;
use maloko_core::environment::Clock;
use maloko_core::event::{Event, EventSink, Op, Severity, StepMetadata};
use maloko_core::provider::{
    Answer, Method, ObjectId, ProviderCall, ProviderDescription, ProviderError, ProviderErrorKind, ProviderHost,
    ProviderReference,
};

use crate::cloud::{Cloud, Providers, Service};
use crate::provider_kind::ProviderKind;
use crate::{host, urns};

use super::world::{Fate, Machine};

/// The longest way to a provider, and back.
const LATENCY: usize = 40;

/// What a process was told, and what it was doing.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// Objects whose creation or change was reported as done, by id, each with its output `ver`.
    pub existing: BTreeMap<String, String>,
    /// Objects whose deletion was reported as done.
    pub deleted: Vec<String>,
    /// Warnings and errors: the resource's name, and the text.
    pub messages: Vec<(String, String)>,
    /// Names of the resources whose `create` was called and has not been reported as done.
    pub creating: Vec<String>,
}

/// The host of one process.
pub struct Reached {
    machine: Machine,
    cloud: Arc<Mutex<Cloud>>,
    providers: Providers,
    objects: Vec<ProviderKind>,
    told: Mutex<Told>,
    base: Instant,
}

impl Reached {
    /// The cloud as the process of `machine` reaches it. `objects` are the provider objects' kinds, numbered from 0.
    #[must_use]
    pub fn new(machine: Machine, cloud: Arc<Mutex<Cloud>>, providers: Providers, objects: Vec<ProviderKind>) -> Self {
        Self { machine, cloud, providers, objects, told: Mutex::default(), base: Instant::now() }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the process was told so far.
    #[must_use]
    pub fn all_told(&self) -> Told {
        self.told().clone()
    }

    async fn travel(&self) {
        let time = self.machine.world.below(LATENCY);
        self.machine.wait(Duration::from_millis(time as u64)).await;
    }

    /// Comes to an edge; a process that dies there goes no further.
    async fn pass(&self, what: &str) -> Result<(), ProviderError> {
        match self.machine.world.edge(self.machine.process, what) {
            // A provider has no disk that could fail.
            Fate::Passes | Fate::Fails(_) => Ok(()),
            Fate::Dies => std::future::pending().await,
        }
    }

    fn begun(&self, step: &StepMetadata) {
        let Some(old) = &step.old else { return };
        if !matches!(step.op, Op::Same | Op::Create | Op::CreateReplacement | Op::Replace) {
            self.told().existing.remove(&old.id);
        }
    }

    fn done(&self, step: &StepMetadata) {
        // Provider rows stand for nothing outside of the state; another run makes another one.
        if urns::is_provider(step.urn.as_str()) {
            return;
        }
        let mut told = self.told();
        match (step.op, &step.old, &step.new) {
            (Op::Create | Op::CreateReplacement | Op::Update, _, Some(row)) if row.custom && !row.id.is_empty() => {
                if let Some(index) = told.creating.iter().position(|name| name == row.urn.name()) {
                    told.creating.remove(index);
                }
                let version = row.outputs_or_empty().get("ver").map_or_else(String::new, text);
                told.existing.insert(row.id.clone(), version);
            }
            (Op::Delete | Op::DeleteReplaced, Some(row), _) if row.custom => told.deleted.push(row.id.clone()),
            _ => {}
        }
    }
}

fn text(value: &Value) -> String {
    crate::show::value(value)
}

#[async_trait]
impl ProviderHost for Reached {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        let mut description = host::description(&self.objects, object);
        let cloud = self.cloud.lock().unwrap_or_else(PoisonError::into_inner);
        description.capabilities.find = cloud.service == Service::Finds;
        Ok(description)
    }

    async fn rebuild(&self, reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(host::object_of(reference))
    }

    async fn named(&self, _reference: &ProviderReference) -> Result<Option<ObjectId>, ProviderError> {
        Ok(None)
    }

    async fn call(&self, _object: ObjectId, call: ProviderCall) -> Result<Answer, ProviderError> {
        let (name, method) = (call.urn.name().to_owned(), call.method.name());
        self.pass(&format!("call {method} of {name}")).await?;
        self.travel().await;
        if !self.machine.world.is_alive(self.machine.process) {
            return std::future::pending().await;
        }
        if matches!(call.method, Method::Create { .. }) {
            self.told().creating.push(name.clone());
        }
        let outcome = {
            let mut cloud = self.cloud.lock().unwrap_or_else(PoisonError::into_inner);
            cloud.call(&self.providers, &name, &call.method)
        };
        self.pass(&format!("answer of {method} of {name}")).await?;
        self.travel().await;
        outcome
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

impl EventSink for Reached {
    fn emit(&self, event: Event) {
        if !self.machine.world.is_alive(self.machine.process) {
            return;
        }
        match event {
            Event::StepStarted(step) => self.begun(&step),
            Event::StepDone(step) => {
                self.machine.world.note(&format!("done: {} {}", step.op, step.urn.name()));
                self.done(&step);
            }
            Event::Diagnostic(message) if message.severity >= Severity::Warning => {
                let name = message.urn.as_ref().map_or_else(String::new, |urn| urn.name().to_owned());
                self.machine.world.note(&format!("told of '{name}': {}", message.message));
                self.told().messages.push((name, message.message.into()));
            }
            _ => {}
        }
    }
}
