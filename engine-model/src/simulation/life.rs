//! The life of one process: an operation on a stack, from the opening of its state to the end or to its death.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use maloko_core::environment::{Entropy, Environment};
use maloko_core::event::Outcome;
use maloko_core::plugin::PluginsOfRun;
use maloko_core::state::{
    Backend, Crypter, LocalBackend, MIN_GENERATIONS, MemoryBackend, Passphrase, Session, SessionOptions, Snapshot,
    StackName, create_stack, read_stack,
};
use maloko_core::{Operation, ProgramEnd};
use object_store::memory::InMemory;

use crate::cloud::{Cloud, Providers, Service};
use crate::driven::Driver;
use crate::invariant::{BrokenInvariant, Invariant};
use crate::program::{Lifecycle, Step, Verb};
use crate::provider_kind::ProviderKind;
use crate::run;
use crate::sdk::{Program, ProgramOutcome};
use crate::urns;
use maloko_test_support::random::Random;

use super::bucket;
use super::disk::{Disk, Volume};
use super::memory::watched;
use super::provider::{ProcessHost, ProcessLog};
use crate::world::{FaultSchedule, World};

/// Where the simulated store lies.
const DIRECTORY: &str = "/work";
/// What the trace says when a process takes a stack away from another.
pub const TAKEN_OVER: &str = "the stack is taken over";

/// How a process ends before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// It is killed; the machine goes on.
    Kill,
    /// The machine loses its power.
    PowerCut,
}

/// What the stacks of a simulation are kept in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The store in memory.
    #[default]
    Memory,
    /// A directory of a simulated disk.
    Disk,
    /// A bucket of a simulated object store.
    Bucket,
}

/// What is around a lifecycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Setting {
    /// What its stack is kept in.
    pub store: Kind,
    /// What the service does for those whose `create` is repeated.
    pub service: Service,
    /// Who drives its runs.
    pub driver: Driver,
}

/// Where a stack is kept.
#[derive(Clone)]
pub enum Store {
    /// In memory.
    Memory(MemoryBackend),
    /// In a directory of a simulated disk.
    Disk(Arc<Mutex<Volume>>),
    /// In a bucket of a simulated object store.
    Bucket(Arc<InMemory>),
}

/// All that outlives processes: the stack and the cloud.
#[derive(Clone)]
pub struct Stage {
    /// The stack's place.
    pub store: Store,
    /// What exists.
    pub cloud: Arc<Mutex<Cloud>>,
}

/// How a life ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LifeOutcome {
    /// The operation came to its end: did it succeed? Otherwise: the error.
    Done(Result<(), String>),
    /// The stack could not be opened.
    Refused(String),
    /// It died on the way.
    Died,
}

/// A life.
#[derive(Clone, Debug)]
pub struct LifeReport {
    /// The process.
    pub process: usize,
    /// How it ended.
    pub outcome: LifeOutcome,
    /// What it was told.
    pub log: ProcessLog,
}

/// One operation of a lifecycle.
#[derive(Clone)]
pub struct Work {
    /// The lifecycle, for its providers.
    pub lifecycle: Arc<Lifecycle>,
    /// The step.
    pub step: Arc<Step>,
    /// Who drives it.
    pub driver: Driver,
}

/// The stack's name.
pub fn stack_name() -> Result<StackName, BrokenInvariant> {
    StackName::new(urns::PROJECT, urns::STACK).map_err(|error| setup(&error))
}

fn setup(error: &dyn std::fmt::Display) -> BrokenInvariant {
    BrokenInvariant::new(Invariant::Setup, error.to_string())
}

/// Randomness for the salt of all stacks, so that every run of the tests has the same.
struct Counting;

impl Entropy for Counting {
    fn fill(&self, bytes: &mut [u8]) -> maloko_core::error::Result<()> {
        (0_u8..).zip(bytes).for_each(|(number, byte)| *byte = number);
        Ok(())
    }
}

/// One key for all: it takes long to derive.
fn crypter() -> Result<Crypter, BrokenInvariant> {
    static CRYPTER: OnceLock<Result<Crypter, String>> = OnceLock::new();
    let made = CRYPTER.get_or_init(|| {
        let environment = Environment { entropy: Arc::new(Counting), ..Environment::system() };
        Crypter::with_new_salt(Passphrase::given("model"), environment).map_err(|error| error.to_string())
    });
    made.clone().map_err(|error| setup(&error))
}

impl Stage {
    /// An empty stack.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(world: &World, setting: Setting) -> Result<Self, BrokenInvariant> {
        let store = match setting.store {
            Kind::Memory => Store::Memory(MemoryBackend::default()),
            Kind::Disk => Store::Disk(Arc::new(Mutex::new(Volume::with_directory(Path::new(DIRECTORY))))),
            Kind::Bucket => Store::Bucket(Arc::default()),
        };
        let cloud = Cloud::of(setting.service);
        let stage = Self { store, cloud: Arc::new(Mutex::new(cloud)) };
        let process = world.begin(FaultSchedule::default());
        let (backend, environment) = stage.seen_by(world, process)?;
        let crypter = crypter()?.on(environment.clone());
        let name = stack_name()?;
        let made =
            done_by(world, process, async move { create_stack(&*backend, &name, &crypter, &environment).await })?;
        made.map_err(|error| setup(&error))?;
        stage.ended(world, process, End::Kill);
        Ok(stage)
    }

    /// Another one like it.
    ///
    /// # Errors
    /// When there is no stack.
    pub fn copy(&self) -> Result<Self, BrokenInvariant> {
        let store = match &self.store {
            Store::Disk(volume) => Store::Disk(Arc::new(Mutex::new(locked(volume).clone()))),
            Store::Memory(backend) => {
                let (name, copy) = (stack_name()?, MemoryBackend::default());
                let stored = backend.stored(&name).ok_or_else(|| setup(&"there is no stack"))?;
                copy.restore(&name, stored);
                Store::Memory(copy)
            }
            Store::Bucket(bucket) => Store::Bucket(Arc::new(bucket.fork())),
        };
        Ok(Self { store, cloud: Arc::new(Mutex::new(locked(&self.cloud).clone())) })
    }

    /// What exists.
    #[must_use]
    pub fn objects(&self) -> Cloud {
        locked(&self.cloud).clone()
    }

    /// The store and the machine as a process has them.
    fn seen_by(&self, world: &World, process: usize) -> Result<(Arc<dyn Backend>, Environment), BrokenInvariant> {
        let mut environment = world.machine(process).environment();
        let backend: Arc<dyn Backend> = match &self.store {
            Store::Memory(inner) => watched(inner.clone(), world.clone(), process),
            Store::Disk(volume) => {
                environment.files = Arc::new(Disk::new(world.clone(), process, Arc::clone(volume)));
                let opened = LocalBackend::open(Path::new(DIRECTORY), environment.clone());
                Arc::new(opened.map_err(|error| BrokenInvariant::new(Invariant::StateValid, error.to_string()))?)
            }
            Store::Bucket(inner) => bucket::reached(Arc::clone(inner), world, process, environment.clone()),
        };
        Ok((backend, environment))
    }

    /// A process is gone, one way or the other: its locks go, and a power cut takes more.
    pub fn ended(&self, world: &World, process: usize, end: End) {
        world.end(process);
        match &self.store {
            Store::Disk(volume) => {
                let mut volume = locked(volume);
                volume.process_ended(process);
                if end == End::PowerCut {
                    volume.power_cut(&mut Random::new(world.below(usize::MAX) as u64, 0));
                }
            }
            Store::Memory(backend) => {
                if let Ok(name) = stack_name()
                    && let Some(stored) = backend.stored(&name)
                {
                    // The lease of a process ends with it.
                    backend.restore(&name, stored);
                }
            }
            // Whoever comes next waits until it has been silent for long enough.
            Store::Bucket(_) => {}
        }
    }

    /// The state as the next process finds it.
    ///
    /// # Errors
    /// When it cannot be read or is not sound.
    pub fn snapshot(&self, world: &World) -> Result<Snapshot, BrokenInvariant> {
        let process = world.begin(FaultSchedule::default());
        let (backend, environment) = self.seen_by(world, process)?;
        let name = stack_name()?;
        let reading = done_by(world, process, async move { read_stack(&*backend, &name, true).await })?;
        world.end(process);
        let invalid = |error: maloko_core::Error| BrokenInvariant::new(Invariant::StateValid, error.to_string());
        let mut snapshot = reading.map_err(invalid)?.snapshot;
        snapshot.unseal(&crypter()?.on(environment)).map_err(invalid)?;
        Ok(snapshot)
    }

    /// Begins an operation as a process of its own.
    ///
    /// # Errors
    /// When the stack's place cannot be opened.
    pub fn begin(&self, world: &World, work: &Work, plan: FaultSchedule) -> Result<Life, BrokenInvariant> {
        let process = world.begin(plan);
        let (backend, environment) = self.seen_by(world, process)?;
        self.begin_with(world, work, process, backend, environment)
    }

    fn begin_with(
        &self,
        world: &World,
        work: &Work,
        process: usize,
        backend: Arc<dyn Backend>,
        environment: Environment,
    ) -> Result<Life, BrokenInvariant> {
        let Work { lifecycle, step, driver } = work.clone();
        let kinds: Vec<ProviderKind> =
            std::iter::once(ProviderKind::default()).chain(lifecycle.providers.values().copied()).collect();
        let providers = Providers::new(&lifecycle, &step.faults);
        let host = Arc::new(ProcessHost::new(world.machine(process), Arc::clone(&self.cloud), providers, kinds));
        let options = SessionOptions {
            crypter: crypter()?.on(environment.clone()),
            environment,
            check_integrity: true,
            command: "model".to_owned(),
            keep_generations: MIN_GENERATIONS,
        };
        let (name, reached) = (stack_name()?, Arc::clone(&host));
        let outcome: Arc<Mutex<Option<LifeOutcome>>> = Arc::default();
        let slot = Arc::clone(&outcome);
        let body = async move {
            let work = Work { lifecycle, step, driver };
            let ended = operate(&*backend, &name, options, &work, &reached).await;
            *locked(&slot) = Some(ended);
        };
        world.spawn(process, Box::pin(body));
        Ok(Life { world: world.clone(), process, host, outcome })
    }

    /// Begins an operation as a process of its own, which takes the stack away from whoever holds it.
    ///
    /// # Errors
    /// When the stack cannot be taken.
    pub fn take_over(&self, world: &World, work: &Work) -> Result<Life, BrokenInvariant> {
        let process = world.begin(FaultSchedule::default());
        let (backend, environment) = self.seen_by(world, process)?;
        let (breaking, name) = (Arc::clone(&backend), stack_name()?);
        let broken = done_by(world, process, async move { breaking.break_locks(&name).await })?;
        broken.map_err(|error| setup(&error))?;
        world.note(TAKEN_OVER);
        self.begin_with(world, work, process, backend, environment)
    }

    /// Lives an operation to its end or to the death that the plan has for it; `end` is the way of that death.
    ///
    /// # Errors
    /// When the operation comes to no end.
    pub fn live(
        &self,
        world: &World,
        work: &Work,
        plan: FaultSchedule,
        end: End,
    ) -> Result<LifeReport, BrokenInvariant> {
        let life = self.begin(world, work, plan)?;
        world.drive(|| life.is_over()).map_err(|reason| BrokenInvariant::new(Invariant::Finished, reason))?;
        let report = life.report();
        let end = if report.outcome == LifeOutcome::Died { end } else { End::Kill };
        self.ended(world, report.process, end);
        Ok(report)
    }
}

/// Has a process do something, and drives the world until it is done.
fn done_by<T: Send + 'static>(
    world: &World,
    process: usize,
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, BrokenInvariant> {
    let slot: Arc<Mutex<Option<T>>> = Arc::default();
    let done = Arc::clone(&slot);
    world.spawn(process, Box::pin(async move { *locked(&done) = Some(work.await) }));
    world.drive(|| locked(&slot).is_some()).map_err(|reason| BrokenInvariant::new(Invariant::Finished, reason))?;
    locked(&slot).take().ok_or_else(|| BrokenInvariant::new(Invariant::Finished, "it was not done"))
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A life that goes on.
pub struct Life {
    world: World,
    /// The process.
    pub process: usize,
    host: Arc<ProcessHost>,
    outcome: Arc<Mutex<Option<LifeOutcome>>>,
}

impl Life {
    /// Is it at its end?
    #[must_use]
    pub fn is_over(&self) -> bool {
        locked(&self.outcome).is_some() || !self.world.is_alive(self.process)
    }

    /// Its outcome.
    #[must_use]
    pub fn report(&self) -> LifeReport {
        let outcome = match &*locked(&self.outcome) {
            Some(outcome) if self.world.is_alive(self.process) => outcome.clone(),
            _ => LifeOutcome::Died,
        };
        LifeReport { process: self.process, outcome, log: self.host.log_so_far() }
    }
}

async fn operate(
    backend: &dyn Backend,
    name: &StackName,
    options: SessionOptions,
    work: &Work,
    host: &Arc<ProcessHost>,
) -> LifeOutcome {
    let session = match Session::open(backend, name, options).await {
        Ok(session) => session,
        Err(error) => return LifeOutcome::Refused(error.to_string()),
    };
    let step = run::resolved(&work.step, session.snapshot());
    host.begin(&step, session.snapshot());
    let operation = Operation { plugins: PluginsOfRun(Arc::clone(host) as _), ..run::operation(&step, false) };
    let (calls, events, machine) = (Arc::clone(host) as _, Arc::clone(host) as _, host.machine().clone());
    let run = work.driver.start(operation, session, calls, events, machine);
    let (ids, known) = (BTreeMap::new(), BTreeMap::new());
    let mut program = Program { run: &run, lifecycle: &work.lifecycle, step: &step, dry_run: false, ids: &ids, known };
    let ran = match (step.verb == Verb::Up || step.with_program, step.parallel > 1 && step.raises_after.is_none()) {
        (false, _) => ProgramOutcome::default(),
        (true, false) => program.run().await,
        (true, true) => program.run_side_by_side().await,
    };
    let raised = step.verb == Verb::Up && !ran.completed && step.raises_after.is_some();
    let error = raised.then(|| "the program raised".to_owned());
    match run.finish(ProgramEnd { error, source: None }).await {
        Ok(report) if report.summary.outcome == Outcome::Succeeded => LifeOutcome::Done(Ok(())),
        Ok(report) => LifeOutcome::Done(Err(report.error.unwrap_or_default().into())),
        Err(error) => LifeOutcome::Done(Err(error.to_string())),
    }
}
