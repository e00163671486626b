//! A private stack in memory, and one operation on it.

mod history;
mod other_stacks;
mod requests;
mod run;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use maloko_core::activity::Activities;
use maloko_core::config_value::ConfigValue;
use maloko_core::environment::{Clock, Environment, Identity};
use maloko_core::error::{Error, Result};
use maloko_core::event::EventSink;
use maloko_core::operation::{Adoption, ProviderChoice};
use maloko_core::plugin::{PluginHost, PluginsOfRun};
use maloko_core::policy::PoliciesOfRun;
use maloko_core::provider::ProviderHost;
use maloko_core::resource_state::ResourceState;
use maloko_core::state::key_record::KeyRecord;
use maloko_core::state::{
    Backend, Crypter, LocalBackend, MIN_GENERATIONS, MemoryBackend, Passphrase, Session, SessionOptions, Snapshot,
    StackName, create_stack, export_deployment, import_deployment, overwrite_stack, read_stack_with,
};
use maloko_core::{Engine, Operation, OperationKind, Urn};
use serde_json::{Value as Json, json};

use crate::clock::VirtualClock;
use crate::fault_points::{FaultPoints, PointCounter};
use crate::host::{KitHost, Matches};
use crate::inline::Inline;
use crate::json::{self, Secrets};
use crate::keys;
use crate::plan;
use crate::plugins::KitPlugins;
use crate::report::Report;
use crate::run_request::{RunRequest, Time, Verb};
use crate::step_log::{HostWording, RecordForPage, StepLog, StepLogWithPage};
use crate::stubs::{Schemas, StubbedObjects, Stubs};

use history::Histories;
use other_stacks::made_up;
pub(crate) use requests::{FormerState, step_of};
pub use run::Run;

/// Provider operations at a time when the order does not say.
const PARALLEL: usize = 16;
/// The file beside a stack on disk that its secrets are encrypted with.
const KEY_FILE: &str = "passphrase";

/// A stack in memory. Clones are the same stack.
#[derive(Clone)]
pub struct TestStack {
    name: StackName,
    backend: Arc<dyn Backend>,
    crypter: Crypter,
    /// Does it outlive the process?
    on_disk: bool,
    clock: VirtualClock,
    points: PointCounter,
    matches: Matches,
    stubbed: StubbedObjects,
    history: Arc<Mutex<Histories>>,
    last: Arc<Mutex<Option<Arc<Report>>>>,
    copy: Arc<Mutex<Option<Box<TestStack>>>>,
    /// The copy of the state that a law keeps; empty without one.
    saved: Arc<Mutex<String>>,
}

impl TestStack {
    /// An empty stack.
    ///
    /// # Errors
    /// Names that no stack can have.
    pub async fn new(project: &str, stack: &str) -> Result<Self> {
        let name = StackName::new(project, stack)?;
        let backend = Arc::new(MemoryBackend::default());
        let environment = Environment::system();
        let crypter = keys::throwaway()?;
        create_stack(&*backend, &name, &crypter, &environment).await?;
        Ok(Self::of(name, backend, crypter, false))
    }

    /// A stack in a directory, which outlives the process: made when it is not there yet. Its secrets are encrypted with a
    /// key file beside it.
    ///
    /// # Errors
    /// Names that no stack can have, and a directory that cannot be used.
    pub async fn open(directory: &Path, project: &str, stack: &str) -> Result<Self> {
        let name = StackName::new(project, stack)?;
        let environment = Environment::system();
        let passphrase = Passphrase::read_or_create_key_file(&directory.join(KEY_FILE), &*environment.entropy)?;
        let backend = Arc::new(LocalBackend::open(directory, environment.clone())?);
        let crypter = if backend.list().await?.contains(&name) {
            let snapshot = read_stack_with(&*backend, &name, true, None).await?.snapshot;
            match snapshot.key_record()? {
                Some(KeyRecord::Passphrase { salt }) => keys::known(passphrase, &salt, environment)?,
                Some(KeyRecord::Wrapped(wrapped)) => Crypter::of_service(wrapped, Some(passphrase), environment),
                None => Crypter::with_new_salt(passphrase, environment)?,
            }
        } else {
            let crypter = Crypter::with_new_salt(passphrase, environment.clone())?;
            create_stack(&*backend, &name, &crypter, &environment).await?;
            crypter
        };
        Ok(Self::of(name, backend, crypter, true))
    }

    fn of(name: StackName, backend: Arc<dyn Backend>, crypter: Crypter, on_disk: bool) -> Self {
        Self {
            name,
            backend,
            crypter,
            on_disk,
            clock: VirtualClock::default(),
            points: PointCounter::default(),
            matches: Matches::default(),
            stubbed: StubbedObjects::default(),
            history: Arc::default(),
            last: Arc::default(),
            copy: Arc::default(),
            saved: Arc::default(),
        }
    }

    /// What a resource was in the course of the test: `{ "ids", "actions", "outputs" }`, lists in order; empty for one that
    /// never was.
    #[must_use]
    pub fn history(&self, name: &str) -> Json {
        locked(&self.history).of(name)
    }

    /// The outcome of the last operation, on the stack or on its copy; `None` where it could not even begin.
    pub(crate) fn last_report(&self, copy: bool) -> Option<Arc<Report>> {
        let last = if copy { self.copy().ok()?.last } else { Arc::clone(&self.last) };
        locked(&last).clone()
    }

    /// Has had this outcome of its last operation.
    #[cfg(test)]
    pub(crate) fn ended_with(&self, report: Option<Report>) {
        *locked(&self.last) = report.map(Arc::new);
    }

    /// Makes the copy on which operations are done whose order says so: with what these resources need, and without the
    /// resources themselves, or with another state.
    pub(crate) async fn copy_aside(&self, without: &[String], restored: Option<(String, String)>) -> Result<()> {
        let copy = self.without(without).await?;
        if let Some((deployment, place)) = restored {
            copy.import(deployment.as_bytes(), &place).await?;
        }
        *locked(&self.copy) = Some(Box::new(copy));
        Ok(())
    }

    /// That copy.
    pub(crate) fn copy(&self) -> Result<Self> {
        let missing = || Error::Configuration("an operation is on a copy of the stack that was not made".into());
        locked(&self.copy).as_deref().cloned().ok_or_else(missing)
    }

    /// Its project and its own name.
    #[must_use]
    pub fn name(&self) -> &StackName {
        &self.name
    }

    /// The stack's clock.
    #[must_use]
    pub fn clock(&self) -> &VirtualClock {
        &self.clock
    }

    /// How many points its runs have passed.
    #[must_use]
    pub fn points(&self) -> u64 {
        self.points.count()
    }

    /// The state as it lies in the store, with what is secret in plain text.
    ///
    /// # Errors
    /// A state that cannot be read.
    pub async fn snapshot(&self) -> Result<Snapshot> {
        let mut snapshot = read_stack_with(&*self.backend, &self.name, true, Some(&self.crypter)).await?.snapshot;
        snapshot.unseal(&self.crypter)?;
        Ok(snapshot)
    }

    /// The state as Pulumi's deployment JSON, with secrets in plain text.
    ///
    /// # Errors
    /// A state that cannot be read.
    pub async fn export(&self) -> Result<String> {
        let snapshot = self.open_snapshot().await?;
        export_deployment(&snapshot, Some(&self.crypter), true)
    }

    /// The state with everything in plain text, what stands for provider objects too.
    pub(crate) async fn open_snapshot(&self) -> Result<Snapshot> {
        let mut snapshot = self.snapshot().await?;
        snapshot.unseal_all(&self.crypter)?;
        Ok(snapshot)
    }

    /// Replaces the state by an exported one. `place` names it in errors.
    ///
    /// # Errors
    /// A document that is not sound, or whose secrets are encrypted with another key.
    pub async fn import(&self, deployment: &[u8], place: &str) -> Result<()> {
        let snapshot = import_deployment(deployment, place)?;
        self.replace(snapshot).await
    }

    pub(crate) async fn replace(&self, snapshot: Snapshot) -> Result<()> {
        overwrite_stack(&*self.backend, &self.name, snapshot, &self.options(Environment::system(), "import"))
            .await
            .map(drop)
    }

    /// Another stack with what these resources need, and without the resources themselves: there they can be
    /// imported.
    ///
    /// # Errors
    /// A state that cannot be read.
    pub(crate) async fn without(&self, urns: &[String]) -> Result<Self> {
        let mut snapshot = self.snapshot().await?;
        let mut needed: Vec<Urn> = urns.iter().map(|urn| Urn::unchecked(urn)).collect();
        let mut next = 0;
        while let Some(urn) = needed.get(next).cloned() {
            for resource in snapshot.resources.iter().filter(|resource| resource.urn == urn) {
                let provider = resource.provider_parts().map(|(urn, _)| urn);
                let more = resource.dependencies.iter().chain(&resource.parent).chain(&provider);
                let more: Vec<Urn> = more.filter(|urn| !needed.contains(urn)).cloned().collect();
                needed.extend(more);
            }
            next += 1;
        }
        let gone = |urn: &Urn| urns.iter().any(|gone| gone == urn.as_str());
        snapshot
            .resources
            .retain(|resource| needed.contains(&resource.urn) && !gone(&resource.urn) && !resource.delete);
        snapshot.pending.clear();
        snapshot.unresolved_creates.clear();
        let mut other = Self::new(self.name.project(), self.name.stack()).await?;
        other.stubbed = self.stubbed.clone();
        other.replace(snapshot).await?;
        Ok(other)
    }

    /// What is in the state: `{ "resources", "unresolvedCreates" }`. A resource has `urn`, `name`, `type`, `id`, `custom`,
    /// `parent`, `inputs`, `outputs`, the paths in `secret`, `protect`, and `delete` for what waits for its deletion. The stack
    /// itself and the engine's own providers are left out; so are secrets' marks. An unresolved create has `urn` and `reason`.
    ///
    /// # Errors
    /// A state that cannot be read.
    pub async fn resources(&self) -> Result<Json> {
        let snapshot = self.snapshot().await?;
        let shown = snapshot
            .resources
            .iter()
            .filter(|resource| !resource.urn.is_root_stack() && resource.urn.provider_package().is_none());
        let resources: Vec<Json> = shown.map(|resource| shown_resource(resource)).collect();
        let unresolved_creates = snapshot.unresolved_creates.iter();
        let unresolved_creates: Vec<Json> = unresolved_creates
            .map(|unresolved| json!({ "urn": unresolved.urn().as_str(), "reason": unresolved.unknown_outcome.name() }))
            .collect();
        Ok(json!({ "resources": resources, "unresolvedCreates": unresolved_creates }))
    }

    /// What lies in the store: the checkpoint, and the journal of a run that did not come to its end.
    #[must_use]
    pub fn stored(&self) -> (Vec<u8>, Option<Vec<u8>>) {
        // Both kinds of stores answer at once.
        let stored = self.backend.load(&self.name).now_or_never().and_then(Result::ok);
        stored.map(|stored| (stored.checkpoint, stored.journal)).unwrap_or_default()
    }

    fn options(&self, environment: Environment, command: &str) -> SessionOptions {
        SessionOptions {
            crypter: self.crypter.on(environment.clone()),
            environment,
            check_integrity: true,
            command: command.to_owned(),
            keep_generations: MIN_GENERATIONS,
        }
    }

    /// Begins an operation. The binding then runs the program against [`Run::engine`], and calls [`Run::finish`].
    /// `plugins`: those that are really started; without them packages are stubbed. `policies` look at what it does. `record` makes what
    /// notes the run for its page.
    ///
    /// # Errors
    /// An order that cannot be understood, and a state that cannot be opened.
    pub async fn begin(
        &self,
        order: &RunRequest,
        host: Arc<dyn ProviderHost>,
        plugins: Option<Arc<dyn PluginHost>>,
        policies: PoliciesOfRun,
        record: Option<RecordForPage>,
    ) -> Result<Run> {
        if order.copy {
            let order = RunRequest { copy: false, ..order.clone() };
            return Box::pin(self.copy()?.begin(&order, host, plugins, policies, record)).await;
        }
        locked(&self.last).take();
        let fault_points = Arc::new(FaultPoints::new(
            self.points.clone(),
            order.crash.clone(),
            Arc::clone(&self.backend),
            self.name.clone(),
        ));
        let clock = (self.clock.clone(), order.time);
        let schemas = Schemas::read(&order.schemas)?;
        schemas.allow(order.stubs.keys())?;
        let stubs = Arc::new(Stubs::new(Arc::clone(&host), order.stubs.clone(), schemas, self.stubbed.clone()));
        let plugins = plugins.unwrap_or_else(|| Arc::clone(&stubs) as _);
        let matches = Arc::clone(&self.matches);
        let kit = Arc::new(KitHost::new((host, plugins), Arc::clone(&fault_points), clock, &order.faults, matches)?);
        let system = Environment::system();
        let environment = Environment {
            clock: if order.time == Time::Virtual { Arc::new(self.clock.clone()) } else { Arc::clone(&system.clock) },
            workers: if self.on_disk { Arc::clone(&system.workers) } else { Arc::new(Inline) },
            // Nothing waits for a disk here, and time stands still.
            linger: Duration::ZERO,
            identity: Arc::new(Identity { user: "test".to_owned(), ..(*system.identity).clone() }),
            ..system
        };
        let session = if order.unkept {
            Session::read_only(Snapshot::default())
        } else if order.preview {
            Session::preview(self.snapshot().await?, self.crypter.on(environment))
        } else {
            let store = crate::store::watched(Arc::clone(&self.backend), Arc::clone(&fault_points));
            Session::open(&store, &self.name, self.options(environment, "maloko's testing kit")).await?
        };
        let mut operation = self.operation(order);
        operation.plugins = PluginsOfRun(Arc::new(KitPlugins(Arc::clone(&kit))));
        operation.policies = policies;
        let step_log = Arc::new(StepLog::new(
            Arc::clone(&operation.redactor),
            Arc::clone(&fault_points),
            HostWording(Arc::clone(&kit) as _),
        ));
        let page = record.map(|record| record(&operation, session.snapshot()));
        let events: Arc<dyn EventSink> = match &page {
            Some(page) => {
                operation.activities = Activities::watched_by(vec![Arc::clone(page) as _]);
                Arc::new(StepLogWithPage { step_log: Arc::clone(&step_log), page: Arc::clone(page) })
            }
            None => Arc::clone(&step_log) as _,
        };
        let started = self.clock.elapsed();
        let engine = Engine::start(operation, session, Arc::clone(&kit) as _, events);
        fault_points.bind(&engine);
        let is_told = !order.preview && !order.aside && !order.unkept;
        Ok(Run { engine, host: kit, stubs, step_log, page, fault_points, stack: self.clone(), started, is_told })
    }

    /// The configuration of an operation, by full key and in plain text.
    #[must_use]
    pub fn plain_config(&self, order: &RunRequest) -> BTreeMap<String, String> {
        order.config.iter().map(|(key, entry)| (self.full_key(key), entry.value.clone())).collect()
    }

    /// The full key of a configuration: one without a namespace is one of the project.
    #[must_use]
    pub fn full_key(&self, key: &str) -> String {
        if key.contains(':') { key.to_owned() } else { format!("{}:{key}", self.name.project()) }
    }

    fn operation(&self, order: &RunRequest) -> Operation {
        let project = self.name.project();
        let kind = match order.verb {
            Verb::Up => OperationKind::Update,
            Verb::Refresh => OperationKind::Refresh,
            Verb::Destroy => OperationKind::Destroy,
            Verb::Import => OperationKind::Import,
        };
        let config = order
            .config
            .iter()
            .map(|(key, entry)| (self.full_key(key), ConfigValue { value: entry.value.clone(), secret: entry.secret }));
        let adoption = |import: &crate::run_request::Import| Adoption {
            urn: Urn::unchecked(&import.urn),
            kind: import.kind.clone(),
            custom: true,
            id: import.id.clone(),
            parent: import.parent.as_deref().map(Urn::unchecked).filter(|urn| !urn.is_root_stack()),
            provider: ProviderChoice::OfItsType,
            ..Adoption::default()
        };
        let mut operation = Operation::new(kind, project, self.name.stack());
        operation.dry_run = order.preview;
        operation.config = Arc::new(config.collect());
        operation.parallel = if order.parallel == 0 { PARALLEL } else { order.parallel };
        operation.refresh = order.refresh;
        operation.ignore_protect = order.ignore_protect;
        operation.continue_on_error = order.continue_on_error;
        operation.targets.clone_from(&order.targets);
        operation.excludes.clone_from(&order.excludes);
        operation.replace.clone_from(&order.replace);
        operation.update_changed_providers = order.update_changed_providers;
        operation.adoptions = order.imports.iter().map(adoption).collect();
        operation.project_root.clone_from(&order.directory);
        operation.program_directory.clone_from(&order.directory);
        if let Some(seed) = order.seed {
            operation.seed[..8].copy_from_slice(&seed.to_le_bytes());
            operation.seed[8..].fill(0);
        }
        operation.stacks = made_up(&order.references, project);
        operation
    }
}

fn shown_resource(resource: &ResourceState) -> Json {
    json!({
        "urn": resource.urn.as_str(),
        "name": resource.urn.name(),
        "type": resource.kind,
        "id": resource.id,
        "custom": resource.custom,
        "parent": resource.parent.as_ref().map(Urn::as_str),
        "inputs": json::properties(&resource.inputs, Secrets::Open),
        "outputs": json::properties(&resource.outputs_or_empty(), Secrets::Open),
        "secret": plan::secret_paths(resource),
        "delete": resource.delete,
        "protect": resource.protect,
    })
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
