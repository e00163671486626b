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
use maloko_core::state::Snapshot;

use crate::cloud::{Cloud, Providers, Service};
use crate::program::Step;
use crate::provider_kind::ProviderKind;
use crate::{host, urns};

use super::process_plugins::ProcessPlugins;
use crate::world::{Fate, Machine};

/// The longest way to a provider, and back.
const LATENCY: usize = 40;

/// What a process was told, and what it was doing.
#[derive(Clone, Debug, Default)]
pub struct ProcessLog {
    /// Objects whose creation or change was reported as done, by id, each with its output `ver`.
    pub existing: BTreeMap<String, String>,
    /// Objects whose deletion was reported as done.
    pub deleted: Vec<String>,
    /// Warnings and errors: the resource's name, and the text.
    pub messages: Vec<(String, String)>,
    /// Names of the resources whose `create` was called and has not been reported as done.
    pub creating: Vec<String>,
    /// Calls that were made of a wrong plugin, or of one with a wrong configuration.
    pub misled: Vec<String>,
}

/// The host of one process.
pub struct ProcessHost {
    machine: Machine,
    cloud: Arc<Mutex<Cloud>>,
    providers: Providers,
    objects: Vec<ProviderKind>,
    log: Mutex<ProcessLog>,
    served: Mutex<ProcessPlugins>,
    base: Instant,
}

impl ProcessHost {
    /// The cloud as the process of `machine` reaches it. `objects` are the provider objects' kinds, numbered from 0.
    #[must_use]
    pub fn new(machine: Machine, cloud: Arc<Mutex<Cloud>>, providers: Providers, objects: Vec<ProviderKind>) -> Self {
        Self {
            machine,
            cloud,
            providers,
            objects,
            log: Mutex::default(),
            served: Mutex::default(),
            base: Instant::now(),
        }
    }

    fn log(&self) -> MutexGuard<'_, ProcessLog> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn served(&self) -> MutexGuard<'_, ProcessPlugins> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn cloud(&self) -> MutexGuard<'_, Cloud> {
        self.cloud.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn machine(&self) -> &Machine {
        &self.machine
    }

    pub(super) fn providers(&self) -> &Providers {
        &self.providers
    }

    /// Takes note of a `create` that is called.
    pub(super) fn is_creating(&self, name: &str) {
        self.log().creating.push(name.to_owned());
    }

    /// Takes note of a call that ought not to have been made of that plugin.
    pub(super) fn note_misled(&self, what: String) {
        self.log().misled.push(what);
    }

    /// Takes note of what the program wants, and of the state that the process begins with.
    pub fn begin(&self, step: &Step, state: &Snapshot) {
        self.served().begin(step, state);
    }

    /// What the process was told so far.
    #[must_use]
    pub fn log_so_far(&self) -> ProcessLog {
        self.log().clone()
    }

    pub(super) async fn travel(&self) {
        // Some take no time at all: by these a call shows that did not wait for the disk.
        let world = &self.machine.world;
        let time = if world.below(4) == 0 { 0 } else { world.below(LATENCY) };
        self.machine.wait(Duration::from_millis(time as u64)).await;
    }

    /// Comes to an edge; a process that dies there goes no further.
    pub(super) async fn pass(&self, what: &str) -> Result<(), ProviderError> {
        match self.machine.world.edge(self.machine.process, what) {
            // A provider has no disk that could fail.
            Fate::Passes | Fate::Fails(_) => Ok(()),
            Fate::Dies => std::future::pending().await,
        }
    }

    fn begun(&self, step: &StepMetadata) {
        let Some(old) = &step.old else { return };
        if !matches!(step.op, Op::Same | Op::Create | Op::CreateReplacement | Op::Replace) {
            self.log().existing.remove(&old.id);
        }
    }

    fn done(&self, step: &StepMetadata) {
        // Provider resources stand for nothing outside of the state; another run makes another one.
        if urns::is_provider(step.urn.as_str()) {
            return;
        }
        let mut log = self.log();
        match (step.op, &step.old, &step.new) {
            (Op::Create | Op::CreateReplacement | Op::Update, _, Some(resource))
                if resource.custom && !resource.id.is_empty() =>
            {
                if let Some(index) = log.creating.iter().position(|name| name == resource.urn.name()) {
                    log.creating.remove(index);
                }
                let version = resource.outputs_or_empty().get("ver").map_or_else(String::new, text);
                log.existing.insert(resource.id.clone(), version);
            }
            (Op::Delete | Op::DeleteReplaced, Some(resource), _) if resource.custom => {
                log.deleted.push(resource.id.clone());
            }
            _ => {}
        }
    }
}

fn text(value: &Value) -> String {
    crate::show::value(value)
}

#[async_trait]
impl ProviderHost for ProcessHost {
    fn describe(&self, object: ObjectId) -> Result<ProviderDescription, ProviderError> {
        let mut description = host::description(&self.objects, object);
        description.capabilities.find = self.cloud().service == Service::Finds;
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
            self.is_creating(&name);
        }
        let outcome = self.cloud().call(&self.providers, &name, &call.method);
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

impl EventSink for ProcessHost {
    fn emit(&self, event: Event) {
        if !self.machine.world.is_alive(self.machine.process) {
            return;
        }
        match event {
            Event::StepStarted(step) => self.begun(&step),
            Event::StepDone(step) => {
                self.machine.world.note(&format!("done: {} {}", step.op, step.urn.name()));
                self.served().done(&step);
                self.done(&step);
            }
            Event::Diagnostic(message) if message.severity >= Severity::Warning => {
                let name = message.urn.as_ref().map_or_else(String::new, |urn| urn.name().to_owned());
                self.machine.world.note(&format!("told of '{name}': {}", message.message));
                self.log().messages.push((name, message.message.into()));
            }
            _ => {}
        }
    }
}
