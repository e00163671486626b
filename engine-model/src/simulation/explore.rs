//! Every way in which a lifecycle can be cut off, and what has to hold afterwards (P1 and P2 of docs/internals/reliability.md).

use std::collections::BTreeSet;
use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;

use maloko_core::state::Snapshot;

use crate::check;
use crate::cloud::Service;
use crate::driven::Driver;
use crate::generate;
use crate::invariant::{BrokenInvariant, Invariant};
use crate::program::{FaultKind, Lifecycle, Step, Verb};
use crate::show;
use maloko_test_support::random::Random;

use super::life::{End, Kind, LifeOutcome, LifeReport, Setting, Stage, Work};
use super::provider::ProcessLog;
use crate::world::{FaultSchedule, World};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interruption {
    /// The process is killed.
    Kill,
    /// The machine loses its power.
    PowerCut,
    /// One operation of the disk, or one request to the object store, fails.
    Fault(ErrorKind),
    /// A plugin dies in a call: before it acts, or before it answers.
    PluginDies,
}

/// The blows that a store can take.
#[must_use]
pub fn blows(store: Kind) -> &'static [Interruption] {
    const FULL: Interruption = Interruption::Fault(ErrorKind::StorageFull);
    match store {
        Kind::Disk => &[Interruption::Kill, Interruption::PowerCut, FULL],
        Kind::Memory => &[Interruption::Kill, FULL, Interruption::PluginDies],
        Kind::Bucket => &[Interruption::Kill, FULL],
    }
}

/// One way to be cut off.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The seed.
    pub seed: u64,
    /// The number of the lifecycle.
    pub program: u64,
    /// The step, from 1.
    pub step: usize,
    /// What is around it.
    pub setting: Setting,
    /// What goes wrong.
    pub interruption: Interruption,
    /// At which edge of the step's run.
    pub point: u64,
    /// At which edge of the recovery another blow of the kind comes.
    pub again: Option<u64>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = match self.setting.store {
            Kind::Memory => "memory",
            Kind::Disk => "disk",
            Kind::Bucket => "bucket",
        };
        let service = match self.setting.service {
            Service::Plain => "plain",
            Service::Keys => "keys",
            Service::Finds => "finds",
        };
        let driver = match self.setting.driver {
            Driver::Loop => "loop",
            Driver::Engine => "engine",
        };
        let interruption = match self.interruption {
            Interruption::Kill => "kill",
            Interruption::PowerCut => "power",
            Interruption::Fault(_) => "full",
            Interruption::PluginDies => "plugin",
        };
        let Self { seed, program, step, point, .. } = self;
        write!(
            f,
            "make simulate SEED={seed} PROGRAM={program} STEP={step} STORE={store} SERVICE={service} DRIVER={driver} BLOW={interruption} POINT={point}"
        )?;
        self.again.map_or(Ok(()), |again| write!(f, " AGAIN={again}"))
    }
}

/// A case in which something does not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Which; the text of it repeats it.
    pub case: Case,
    /// What is wrong.
    pub broken: BrokenInvariant,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  {}: {}", self.case, self.broken.invariant.name(), self.broken.details)
    }
}

/// How many cases were tried, and what became of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct CaseCounts {
    /// Cases.
    pub cases: u64,
    /// Those in which the process did not get past its blow.
    pub deaths: u64,
    /// Objects that were left over, each of them named by the next run.
    pub named: u64,
}

/// Which of all cases are tried.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// Every edge of every step, and for each a second blow at one edge of the recovery.
    Every,
    /// So many edges of each step, chosen by the seed.
    Some(usize),
}

/// A lifecycle without what lets objects go on purpose or looks at those of others: then whatever is left over is left
/// over by mistake.
#[must_use]
pub fn lifecycle(seed: u64, program: u64) -> Lifecycle {
    let mut lifecycle = generate::lifecycle(seed, program);
    for step in &mut lifecycle.steps {
        step.program.retain(|resource| resource.get.is_none());
        for resource in &mut step.program {
            resource.retain = None;
            resource.deleted_with = None;
        }
        step.taint.clear();
        step.drift.clear();
        step.faults.retain(|fault| !matches!(fault.kind, FaultKind::NoId | FaultKind::AnswerLost));
    }
    lifecycle
}

/// A step of a lifecycle, with the world as it is before.
pub(super) struct Scene {
    seed: u64,
    program: u64,
    step: usize,
    setting: Setting,
    pub(super) work: Work,
    pub(super) before: Stage,
    /// How many ends of calls of plugins the step has without a blow.
    plugin_points: u64,
}

impl Scene {
    pub(super) fn world(&self) -> World {
        World::new(self.seed, self.program * 64 + self.step as u64)
    }

    /// The step without a blow; gives how many edges and ends of calls of plugins it has, and the stage as it leaves it.
    fn clean(&self) -> Result<(u64, u64, Stage), BrokenInvariant> {
        let (world, stage) = (self.world(), self.before.copy()?);
        let report = stage.live(&world, &self.work, FaultSchedule::default(), End::Kill)?;
        if let LifeOutcome::Refused(reason) = report.outcome {
            return Err(BrokenInvariant::new(Invariant::Setup, reason));
        }
        is_rightly_served(&report.log)?;
        is_whole(&stage, &world, &[], 0)?;
        Ok((world.fault_points(report.process), world.plugin_points(report.process), stage))
    }

    /// A blow at an edge, then as many runs as it takes to get to the end, then a destroy. Gives what was left over, and
    /// what happened.
    fn struck(&self, case: &Case) -> (Result<(bool, u64), BrokenInvariant>, World) {
        let world = self.world();
        (self.struck_in(&world, case), world)
    }

    fn struck_in(&self, world: &World, case: &Case) -> Result<(bool, u64), BrokenInvariant> {
        let stage = self.before.copy()?;
        let end = if case.interruption == Interruption::PowerCut { End::PowerCut } else { End::Kill };
        let plan = |at: u64| match case.interruption {
            Interruption::Kill | Interruption::PowerCut => {
                FaultSchedule { dies_at: Some(at), ..FaultSchedule::default() }
            }
            Interruption::Fault(kind) => FaultSchedule { fails_at: Some((at, kind)), ..FaultSchedule::default() },
            Interruption::PluginDies => FaultSchedule { plugin_dies_at: Some(at), ..FaultSchedule::default() },
        };
        let plans = [Some(plan(case.point)), case.again.map(plan), None];
        let (mut runs, mut creating, mut hit) = (Vec::new(), 0, false);
        for plan in plans {
            let report = stage.live(world, &self.work, plan.unwrap_or_default(), end)?;
            creating += report.log.creating.len();
            let done = is_done(&report, plan.is_some())?;
            hit |= !done;
            is_rightly_served(&report.log)?;
            nothing_lost(&report.log, &stage.snapshot(world)?)?;
            runs.push(report);
            // After a fault the run came to its end, but whoever sees its error runs the command again.
            if done && plan.is_none() {
                break;
            }
        }
        let left = is_whole(&stage, world, &runs, creating)?;
        if self.setting.service != Service::Plain {
            known_by_key(&stage, &stage.snapshot(world)?, &left)?;
        }
        self.destroyed(world, &stage, &left)?;
        Ok((hit, left.len() as u64))
    }

    /// A destroy leaves nothing but what was left over before.
    fn destroyed(&self, world: &World, stage: &Stage, left: &BTreeSet<String>) -> Result<(), BrokenInvariant> {
        let step = Step { verb: Verb::Destroy, ignore_protect: true, ..Step::default() };
        let work = Work { step: Arc::new(step), ..self.work.clone() };
        let report = stage.live(world, &work, FaultSchedule::default(), End::Kill)?;
        is_rightly_served(&report.log)?;
        if report.outcome != LifeOutcome::Done(Ok(())) {
            return Err(BrokenInvariant::new(
                Invariant::Destroyed,
                format!("the destroy did not succeed: {:?}", report.outcome),
            ));
        }
        let forgotten: Vec<String> = stage.objects().objects.keys().filter(|id| !left.contains(*id)).cloned().collect();
        if forgotten.is_empty() {
            return Ok(());
        }
        Err(BrokenInvariant::new(
            Invariant::NoOrphan,
            format!("{} are still there after a destroy", forgotten.join(", ")),
        ))
    }

    fn case(&self, interruption: Interruption, point: u64, again: Option<u64>) -> Case {
        let Self { seed, program, step, setting, .. } = *self;
        Case { seed, program, step, setting, interruption, point, again }
    }
}

/// Where operation keys tell which object is whose, nothing is left over but what no run has come to yet.
fn known_by_key(stage: &Stage, found: &Snapshot, left: &BTreeSet<String>) -> Result<(), BrokenInvariant> {
    let open = |name: &str| found.unresolved_creates.iter().any(|unresolved| unresolved.urn().name() == name);
    let objects = stage.objects().objects;
    let lost: Vec<&str> = left
        .iter()
        // A plugin is told no key.
        .filter(|id| objects.get(*id).is_some_and(|object| object.set_by.is_empty() && !open(&object.name)))
        .map(String::as_str)
        .collect();
    if lost.is_empty() {
        return Ok(());
    }
    let what = format!("{} are left over, though they could be known by their operation keys", lost.join(", "));
    Err(BrokenInvariant::new(Invariant::NoDuplicate, what))
}

/// Every call of a plugin was made of the one that the program or the resource names, under the configuration of its
/// provider.
fn is_rightly_served(log: &ProcessLog) -> Result<(), BrokenInvariant> {
    log.misled.first().map_or(Ok(()), |what| Err(BrokenInvariant::new(Invariant::RightProvider, what.clone())))
}

/// Did the operation come to its end? A run whose plan has no blow has to.
fn is_done(report: &LifeReport, planned: bool) -> Result<bool, BrokenInvariant> {
    match &report.outcome {
        LifeOutcome::Done(_) => Ok(true),
        LifeOutcome::Died | LifeOutcome::Refused(_) if planned => Ok(false),
        LifeOutcome::Died => Err(BrokenInvariant::new(Invariant::Finished, "the process died without a reason")),
        LifeOutcome::Refused(reason) => {
            Err(BrokenInvariant::new(Invariant::Finished, format!("the next run was refused: {reason}")))
        }
    }
}

/// What a process reported as done is in the state that it left.
pub(super) fn nothing_lost(log: &ProcessLog, state: &Snapshot) -> Result<(), BrokenInvariant> {
    let lost = |what: String| Err(BrokenInvariant::new(Invariant::Durable, what));
    for (id, version) in &log.existing {
        let Some(resource) =
            state.resources.iter().find(|resource| resource.id == *id && !resource.pending_replacement)
        else {
            return lost(format!("{id} was reported as made, and is not in the state"));
        };
        let found = resource.outputs_or_empty().get("ver").map_or_else(String::new, show::value);
        if found != *version {
            return lost(format!("{id} was reported as {version}, and the state has {found}"));
        }
    }
    for id in &log.deleted {
        if state.resources.iter().any(|resource| resource.id == *id && !resource.pending_replacement) {
            return lost(format!("{id} was reported as deleted, and is in the state"));
        }
    }
    Ok(())
}

/// Every object is in the state, but for those whose creation was cut off: these are named. Gives the ids of these.
pub(super) fn is_whole(
    stage: &Stage,
    world: &World,
    runs: &[LifeReport],
    creating: usize,
) -> Result<BTreeSet<String>, BrokenInvariant> {
    let found = stage.snapshot(world)?;
    check::state_valid(&found.resources)?;
    let mut left = BTreeSet::new();
    for (id, object) in stage.objects().objects {
        if found.resources.iter().any(|resource| resource.id == id && !resource.pending_replacement) {
            continue;
        }
        let later = runs.iter().skip(1);
        let named = later.flat_map(|report| &report.log.messages).any(|(name, _)| *name == object.name);
        if !named {
            let what = format!("{id}, made for {}, is not in the state, and no later run named it", object.name);
            return Err(BrokenInvariant::new(Invariant::NoOrphan, what));
        }
        left.insert(id);
    }
    if left.len() > creating {
        let what = format!("{} objects are left over, and {creating} creations were cut off", left.len());
        return Err(BrokenInvariant::new(Invariant::NoDuplicate, what));
    }
    Ok(left)
}

/// The scenes of a lifecycle on one store.
pub(super) fn scenes(seed: u64, program: u64, setting: Setting) -> Result<Vec<(Scene, u64)>, Failure> {
    let lifecycle = Arc::new(lifecycle(seed, program));
    let at =
        |step: usize| Case { seed, program, step, setting, interruption: Interruption::Kill, point: 0, again: None };
    let failed = |step: usize| move |broken: BrokenInvariant| Failure { case: at(step), broken };
    let mut stage = Stage::new(&World::new(seed, program), setting).map_err(failed(0))?;
    let mut scenes = Vec::new();
    for (index, step) in lifecycle.steps.iter().enumerate() {
        let work = Work { lifecycle: Arc::clone(&lifecycle), step: Arc::new(step.clone()), driver: setting.driver };
        let mut scene = Scene { seed, program, step: index + 1, setting, work, before: stage, plugin_points: 0 };
        let (fault_points, plugin_points, after) = scene.clean().map_err(failed(index + 1))?;
        scene.plugin_points = plugin_points;
        scenes.push((scene, fault_points));
        stage = after;
    }
    Ok(scenes)
}

/// Tries the cases of one lifecycle on one store; stops at the first that fails.
///
/// # Errors
/// The first case in which something does not hold.
pub fn explore(
    seed: u64,
    program: u64,
    setting: Setting,
    blows: &[Interruption],
    extent: Extent,
) -> Result<CaseCounts, Box<Failure>> {
    let mut tried = CaseCounts::default();
    let mut random = Random::new(seed, program ^ 0x5eed);
    for (scene, fault_points) in scenes(seed, program, setting)? {
        for interruption in blows {
            let fault_points =
                if *interruption == Interruption::PluginDies { scene.plugin_points } else { fault_points };
            if fault_points == 0 {
                continue;
            }
            let points: Vec<u64> = match extent {
                Extent::Every => (1..=fault_points).collect(),
                Extent::Some(count) => (0..count).map(|_| 1 + random.below(as_usize(fault_points)) as u64).collect(),
            };
            for point in points {
                let again = 1 + random.below(as_usize(fault_points) + 4) as u64;
                let every = matches!(extent, Extent::Every);
                let pair = [None, Some(again)];
                let variants = if every { &pair[..] } else { &pair[usize::from(random.percent(50))..][..1] };
                for again in variants {
                    let case = scene.case(*interruption, point, *again);
                    let (hit, named) = scene.struck(&case).0.map_err(|broken| Failure { case, broken })?;
                    tried.cases += 1;
                    tried.deaths += u64::from(hit);
                    tried.named += named;
                }
            }
        }
    }
    Ok(tried)
}

fn as_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// One case again, with the trace of all that happened in it.
///
/// # Errors
/// When the lifecycle does not come to the case.
pub fn replay(case: &Case) -> Result<(Result<(), BrokenInvariant>, String), Box<Failure>> {
    for (scene, _) in scenes(case.seed, case.program, case.setting)? {
        if scene.step == case.step {
            let world = scene.world();
            world.follow_flows();
            let outcome = scene.struck_in(&world, case);
            return Ok((outcome.map(drop), world.trace()));
        }
    }
    let broken = BrokenInvariant::new(Invariant::Setup, format!("the lifecycle has no step {}", case.step));
    Err(Box::new(Failure { case: *case, broken }))
}
