//! Runs a lifecycle against the engine and against the model, and compares them after every step. The engine is its `Run`, in
//! a world of one thread.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use maloko_core::config_value::ConfigValue;
use maloko_core::environment::Environment;
use maloko_core::event::{Event, Outcome};
use maloko_core::plugin::PluginsOfRun;
use maloko_core::provider::StoredProvider;
use maloko_core::state::{
    Crypter, MIN_GENERATIONS, MemoryBackend, Passphrase, PendingKind, Session, SessionOptions, Snapshot, StackName,
    create_stack, overwrite_stack, read_stack,
};
use maloko_core::{Operation, OperationKind, ProgramEnd, ResourceState, Value};

use crate::check::{self, ObservedOperation};
use crate::cloud::{Cloud, Providers};
use crate::driven::Driver;
use crate::host::{SimulatedHost, object_of};
use crate::invariant::{BrokenInvariant, Invariant};
use crate::model::{Before, Model, NEW_ID, Record};
use crate::program::{Lifecycle, Step, Verb};
use crate::provider_kind::ProviderKind;
use crate::rules::{Counts, Rule};
use crate::sdk::{self, Program};
use crate::urns;
use crate::world::{FaultSchedule, Machine, World};

/// Where and how a lifecycle broke an invariant.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The step, from 1.
    pub step: usize,
    /// In its preview, or in the run itself?
    pub preview: bool,
    /// What is wrong.
    pub broken: BrokenInvariant,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = if self.preview { " (preview)" } else { "" };
        write!(f, "step {}{part}: {}\n{}", self.step, self.broken.invariant.name(), self.broken.details)
    }
}

/// One key for all: it takes long to derive.
fn options(machine: &Machine) -> Result<SessionOptions, String> {
    static CRYPTER: std::sync::OnceLock<Result<Crypter, String>> = std::sync::OnceLock::new();
    let made = CRYPTER.get_or_init(|| {
        Crypter::with_new_salt(Passphrase::given("model"), Environment::system()).map_err(|error| error.to_string())
    });
    Ok(SessionOptions {
        crypter: made.clone()?.on(machine.environment()),
        environment: machine.environment(),
        check_integrity: true,
        keep_generations: MIN_GENERATIONS,
        command: "model".to_owned(),
    })
}

/// The stack between two steps.
struct Stack {
    backend: MemoryBackend,
    name: StackName,
    options: SessionOptions,
    machine: Machine,
    cloud: Cloud,
    /// Objects that stay although no resource names them.
    let_go: BTreeSet<String>,
    /// Resources whose create may have made an object.
    unresolved_creates: BTreeSet<String>,
    /// Resources whose create raised.
    raised: BTreeSet<String>,
}

/// Runs a lifecycle to its end or to the first broken invariant. Counts what was exercised.
///
/// # Errors
/// What is wrong, and at which step.
pub fn run(lifecycle: &Lifecycle, counts: &mut Counts) -> Result<(), Failure> {
    let fault = |details: String| Failure {
        step: 0,
        preview: false,
        broken: BrokenInvariant { invariant: Invariant::Setup, details },
    };
    let world = World::new(lifecycle.order, 0);
    let machine = world.machine(world.begin(FaultSchedule::default()));
    let process = machine.process;
    let outcome = world.block_on(async {
        let options = options(&machine).map_err(fault)?;
        let name = StackName::new(urns::PROJECT, urns::STACK).map_err(|error| fault(error.to_string()))?;
        let backend = MemoryBackend::default();
        create_stack(&backend, &name, &options.crypter, &options.environment)
            .await
            .map_err(|error| fault(error.to_string()))?;
        let mut stack = Stack {
            backend,
            name,
            options,
            machine,
            cloud: Cloud::default(),
            let_go: BTreeSet::new(),
            unresolved_creates: BTreeSet::new(),
            raised: BTreeSet::new(),
        };
        for (index, step) in lifecycle.steps.iter().enumerate() {
            let preview = RefCell::new(true);
            stack.step(lifecycle, step, counts, &preview).await.map_err(|broken| Failure {
                step: index + 1,
                preview: *preview.borrow(),
                broken,
            })?;
        }
        Ok(())
    });
    world.end(process);
    outcome.unwrap_or_else(|reason| {
        Err(Failure { broken: BrokenInvariant::new(Invariant::Finished, reason), ..fault(String::new()) })
    })
}

impl Stack {
    async fn snapshot(&self) -> Result<Snapshot, BrokenInvariant> {
        let reading = read_stack(&self.backend, &self.name, true).await;
        let mut snapshot =
            reading.map_err(|error| BrokenInvariant::new(Invariant::StateValid, error.to_string()))?.snapshot;
        snapshot
            .unseal(&self.options.crypter)
            .map_err(|error| BrokenInvariant::new(Invariant::StateValid, error.to_string()))?;
        Ok(snapshot)
    }

    /// The same stack in a backend of its own.
    fn copy(&self) -> Self {
        let backend = MemoryBackend::default();
        if let Some(stored) = self.backend.stored(&self.name) {
            backend.restore(&self.name, stored);
        }
        Self {
            backend,
            name: self.name.clone(),
            options: self.options.clone(),
            machine: self.machine.clone(),
            cloud: self.cloud.clone(),
            let_go: self.let_go.clone(),
            unresolved_creates: self.unresolved_creates.clone(),
            raised: self.raised.clone(),
        }
    }

    /// What happens outside of the engine before a step.
    async fn prepare(&mut self, step: &Step) -> Result<(), BrokenInvariant> {
        let mut snapshot = self.snapshot().await?;
        for drift in &step.drift {
            let resource = snapshot.resources.iter().find(|resource| {
                resource.delete == drift.pending_delete && resource.custom && resource.urn.name() == drift.resource
            });
            if let Some(resource) = resource {
                self.cloud.drift(drift, &resource.id);
            }
        }
        if step.taint.is_empty() {
            return Ok(());
        }
        for resource in &mut snapshot.resources {
            if resource.custom && !resource.delete && step.taint.iter().any(|name| name == resource.urn.name()) {
                Arc::make_mut(resource).taint = true;
            }
        }
        let written = overwrite_stack(&self.backend, &self.name, snapshot, &self.options).await;
        written.map(drop).map_err(|error| BrokenInvariant::new(Invariant::Setup, error.to_string()))
    }

    async fn step(
        &mut self,
        lifecycle: &Lifecycle,
        step: &Step,
        counts: &mut Counts,
        in_preview: &RefCell<bool>,
    ) -> Result<(), BrokenInvariant> {
        self.prepare(step).await?;
        let before = self.snapshot().await?;
        let step = &resolved(step, &before);
        let foreseen = match step.verb {
            Verb::Up => Some(self.operate(lifecycle, step, &before, true, counts).await?),
            Verb::Refresh | Verb::Destroy => None,
        };
        in_preview.replace(false);
        let happened = self.operate(lifecycle, step, &before, false, counts).await?;
        // A look-up in a preview cannot see what this very run is going to do to the object.
        let looks_up = step.program.iter().any(|resource| resource.get.is_some());
        // Nor can a plugin that is not configured yet say what it will ask for.
        let unconfigured = foreseen.as_ref().is_some_and(|foreseen| foreseen.met_unknown)
            && step.program.iter().any(|resource| resource.is_provider && !resource.uses.is_empty());
        if let Some(foreseen) = &foreseen
            && !happened.failed
            && !foreseen.failed
            && !looks_up
            && !unconfigured
        {
            check::foresight(step, foreseen, &happened)?;
        }
        let whole = step.targets.is_empty() && step.excludes.is_empty();
        if step.verb == Verb::Up && !happened.failed && whole {
            self.settled(lifecycle, step, counts).await?;
        }
        if step.verb == Verb::Destroy && !happened.failed && whole {
            let left = self.snapshot().await?.resources;
            if let Some(state) = left.first() {
                return Err(BrokenInvariant::new(Invariant::Destroyed, format!("{} is still in the state", state.urn)));
            }
        }
        Ok(())
    }

    /// A second `up` of the same program does nothing.
    async fn settled(&self, lifecycle: &Lifecycle, step: &Step, counts: &mut Counts) -> Result<(), BrokenInvariant> {
        let restless = |resource: &crate::program::Resource| {
            let kind = lifecycle.providers.get(&resource.name).copied().unwrap_or_default();
            !resource.component && kind.is_restless()
        };
        if step.program.iter().any(|resource| resource.get.is_some() || restless(resource)) {
            return Ok(());
        }
        let again = Step { replace: Vec::new(), faults: Vec::new(), ..step.clone() };
        let mut copy = self.copy();
        let now = copy.snapshot().await?;
        check::does_nothing(&copy.operate(lifecycle, &again, &now, false, counts).await?)
    }

    async fn operate(
        &mut self,
        lifecycle: &Lifecycle,
        step: &Step,
        before: &Snapshot,
        dry_run: bool,
        counts: &mut Counts,
    ) -> Result<ObservedOperation, BrokenInvariant> {
        let ids: BTreeMap<String, String> = before
            .resources
            .iter()
            .filter(|resource| resource.custom && !resource.delete)
            .map(|resource| (resource.urn.name().to_owned(), resource.id.clone()))
            .collect();
        let mut observed = self.observe(lifecycle, step, before, dry_run, &ids).await?;
        let after = if dry_run { before.resources.clone() } else { self.snapshot().await?.resources };
        observed.resources = with_new_ids(records(&after), &before.resources);
        let is_left = |record: &Record| {
            let is_it = |resource: &Record| {
                resource.urn == record.urn && resource.id == record.id && resource.delete == record.delete
            };
            observed.resources.iter().any(is_it)
        };
        let is_there = |id: &str| observed.cloud.objects.contains_key(id);
        let served = match step.verb {
            Verb::Refresh => served(lifecycle, &before.resources, &self.options.crypter),
            Verb::Up | Verb::Destroy => BTreeMap::new(),
        };
        let model = Model::run(Before {
            lifecycle,
            step,
            dry_run,
            resources: records(&before.resources),
            served,
            doubted: doubted(before),
            cloud: self.cloud.clone(),
            ids: &ids,
            outputs: outputs(&before.resources),
            is_left: &is_left,
            is_there: &is_there,
        });
        if !dry_run {
            check::state_valid(&after)?;
            check::order_of_calls(&records(&before.resources), &observed)?;
            self.let_go.extend(model.let_go.iter().cloned());
            check::world(&self.cloud, &observed, &self.let_go)?;
        }
        check::steps_and_calls(&model, &observed)?;
        if dry_run {
            check::preview_is_harmless(&self.cloud, &observed)?;
        } else {
            check::resources_and_cloud(&model, &observed)?;
            check::outputs(&model, &outputs(&after))?;
            if !self.unresolved_creates.is_empty() {
                counts.hit(Rule::PendingCreateCarried);
            }
            for urn in &model.resolved {
                self.unresolved_creates.remove(urn);
                self.raised.remove(urn);
            }
            self.unresolved_creates.extend(model.unresolved_creates.iter().cloned());
            self.raised.extend(model.raised.iter().cloned());
            check::pending(&self.unresolved_creates, &self.raised, &self.snapshot().await?)?;
            self.cloud = observed.cloud.clone();
        }
        counts.add(&model.counts);
        Ok(observed)
    }

    async fn observe(
        &self,
        lifecycle: &Lifecycle,
        step: &Step,
        before: &Snapshot,
        dry_run: bool,
        ids: &BTreeMap<String, String>,
    ) -> Result<ObservedOperation, BrokenInvariant> {
        let broken = |error: maloko_core::Error| BrokenInvariant::new(Invariant::Finished, error.to_string());
        let objects: Vec<ProviderKind> =
            std::iter::once(ProviderKind::default()).chain(lifecycle.providers.values().copied()).collect();
        let host = SimulatedHost::new(
            self.machine.clone(),
            Providers::new(lifecycle, &step.faults),
            objects,
            self.cloud.clone(),
        );
        let session = if dry_run {
            Session::preview(before.clone(), self.options.crypter.clone())
        } else {
            Session::open(&self.backend, &self.name, self.options.clone()).await.map_err(broken)?
        };
        let plugins = PluginsOfRun(Arc::clone(&host) as _);
        let operation = Operation { plugins, ..operation(step, dry_run) };
        let (calls_of, events_of) = (Arc::clone(&host) as _, Arc::clone(&host) as _);
        let run = Driver::Loop.start(operation, session, calls_of, events_of, self.machine.clone());
        let mut program = Program { run: &run, lifecycle, step, dry_run, ids, known: BTreeMap::new() };
        let runs = step.verb == Verb::Up || step.with_program;
        let ran = if runs { program.run().await } else { sdk::ProgramOutcome::default() };
        run.all_reported().await;
        let (calls, events) = (host.calls_so_far(), host.events_so_far());
        let raised = runs && !ran.completed && step.raises_after.is_some();
        let error = raised.then(|| "the program raised".to_owned());
        let report = run.finish(ProgramEnd { error, source: None }).await.map_err(broken)?;
        let (cloud, made, told) = host.take();
        let mut observed = ObservedOperation {
            dry_run,
            failed: report.summary.outcome != Outcome::Succeeded,
            met_unknown: ran.met_unknown,
            cloud,
            ..ObservedOperation::default()
        };
        for (index, call) in made.into_iter().enumerate() {
            if index < calls { observed.calls.push(call) } else { observed.late_calls.push(call) }
        }
        for (index, event) in told.into_iter().enumerate() {
            observed.hear(event, index < events);
        }
        Ok(observed)
    }
}

impl ObservedOperation {
    fn hear(&mut self, event: Event, early: bool) {
        match event {
            Event::StepStarted(step) if !urns::is_dynamic_provider(step.urn.as_str()) => {
                let id = step.old.as_ref().map(|old| old.id.clone()).unwrap_or_default();
                let name = crate::show::name(step.urn.as_str()).to_owned();
                if early {
                    self.steps.push(format!("{} {name}", step.op));
                } else {
                    self.late_steps.push(format!("{} {name} {id}", step.op));
                }
            }
            Event::Diagnostic(diagnostic) => self.messages.push(diagnostic.message.into()),
            _ => {}
        }
    }
}

fn records(resources: &[Arc<ResourceState>]) -> Vec<Record> {
    resources.iter().map(|resource| Record::of(resource)).collect()
}

/// The resources, with one text for the ids that provider resources got in this run: nobody can foresee these.
fn with_new_ids(mut records: Vec<Record>, before: &[Arc<ResourceState>]) -> Vec<Record> {
    let known: BTreeSet<&str> = before.iter().map(|resource| resource.id.as_str()).collect();
    let made = |record: &&Record| urns::is_provider(&record.urn) && !known.contains(record.id.as_str());
    let made: BTreeSet<String> = records.iter().filter(made).map(|record| record.id.clone()).collect();
    for record in &mut records {
        if made.contains(&record.id) {
            NEW_ID.clone_into(&mut record.id);
        }
        if let Some((urn, id)) = record.provider.rsplit_once("::")
            && made.contains(id)
        {
            record.provider = format!("{urn}::{NEW_ID}");
        }
    }
    records
}

/// Whose provider object each resource names in the state: the one of the program that dealt with it last.
fn served(lifecycle: &Lifecycle, resources: &[Arc<ResourceState>], crypter: &Crypter) -> BTreeMap<String, String> {
    let reference = |resource: &ResourceState| match &resource.stored_provider {
        StoredProvider::Reference(reference) => Some(Arc::clone(reference)),
        StoredProvider::Sealed(ciphertext) => {
            let text: String = serde_json::from_str(&crypter.decrypt(ciphertext).ok()?).ok()?;
            serde_json::from_str(&text).ok()
        }
        StoredProvider::Absent | StoredProvider::Foreign(_) | StoredProvider::Code(_) => None,
    };
    let named = |resource: &Arc<ResourceState>| {
        let object = usize::try_from(object_of(&*reference(resource)?)?).ok()?;
        let name = object.checked_sub(1).and_then(|index| lifecycle.providers.keys().nth(index));
        Some((resource.urn.to_string(), name.cloned().unwrap_or_default()))
    };
    resources.iter().filter(|resource| !resource.delete).filter_map(named).collect()
}

/// The stack's outputs.
fn outputs(resources: &[Arc<ResourceState>]) -> BTreeMap<String, String> {
    let Some(stack) = resources.iter().find(|resource| resource.urn.is_root_stack()) else { return BTreeMap::new() };
    let text = |value: &Value| crate::show::value(value);
    stack.outputs_or_empty().iter().map(|(key, value)| (key.clone(), text(value))).collect()
}

/// The step with names in selections turned into URNs where the state knows them, into globs elsewhere.
pub(crate) fn resolved(step: &Step, before: &Snapshot) -> Step {
    let resolve = |names: &[String]| -> Vec<String> {
        let urn = |name: &String| {
            if name.starts_with("urn:") || name.starts_with("**") {
                return name.clone();
            }
            let resource = before.resources.iter().find(|resource| !resource.delete && resource.urn.name() == name);
            resource.map_or_else(|| format!("**::{name}"), |resource| resource.urn.to_string())
        };
        names.iter().map(urn).collect()
    };
    Step {
        targets: resolve(&step.targets),
        excludes: resolve(&step.excludes),
        replace: resolve(&step.replace),
        ..step.clone()
    }
}

pub(crate) fn operation(step: &Step, dry_run: bool) -> Operation {
    let kind = match step.verb {
        Verb::Up => OperationKind::Update,
        Verb::Refresh => OperationKind::Refresh,
        Verb::Destroy => OperationKind::Destroy,
    };
    let value = |text: &String| ConfigValue { value: text.clone(), secret: false };
    let config: BTreeMap<String, ConfigValue> =
        step.config.iter().map(|(key, text)| (key.clone(), value(text))).collect();
    Operation {
        dry_run,
        config: Arc::new(config),
        parallel: step.parallel.max(1),
        continue_on_error: step.continue_on_error,
        ignore_protect: step.ignore_protect,
        targets: step.targets.clone(),
        target_dependents: step.target_dependents,
        excludes: step.excludes.clone(),
        exclude_dependents: step.exclude_dependents,
        replace: step.replace.clone(),
        seed: [7; 32],
        ..Operation::new(kind, urns::PROJECT, urns::STACK)
    }
}

/// The resources whose deletion was begun without a known end, by URN and id.
fn doubted(snapshot: &Snapshot) -> BTreeSet<(String, String)> {
    let deleting = snapshot.pending.iter().filter(|pending| pending.kind == PendingKind::Deleting);
    deleting.map(|pending| (pending.resource.urn.to_string(), pending.resource.id.clone())).collect()
}
