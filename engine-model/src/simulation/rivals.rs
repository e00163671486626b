//! Two processes and one stack (P5 and P6 of docs/internals/reliability.md).

use crate::driven::Driver;
use crate::invariant::{BrokenInvariant, Invariant};

use super::explore::{Scene, is_whole, nothing_lost, scenes};
use super::life::{End, Kind, Life, LifeOutcome, Setting, Stage, TAKEN_OVER};
use crate::world::{FaultSchedule, World};

/// How meetings of two processes ended.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meetings {
    /// The second one was refused because the first one was at work.
    pub refused: u64,
    /// The second one came when the first one was done.
    pub in_turn: u64,
}

fn setting(store: Kind, program: u64) -> Setting {
    Setting { store, driver: Driver::of(program), ..Setting::default() }
}

fn broken(details: impl Into<String>) -> BrokenInvariant {
    BrokenInvariant::new(Invariant::OneWriter, details)
}

fn until_over(world: &World, lives: &[&Life]) -> Result<(), BrokenInvariant> {
    let over = world.drive(|| lives.iter().all(|life| life.is_over()));
    over.map_err(|reason| BrokenInvariant::new(Invariant::Finished, reason))
}

/// Begins the first process and lets it come to an edge that the world chooses.
fn first(scene: &Scene, fault_points: u64, world: &World, stage: &Stage) -> Result<Life, BrokenInvariant> {
    let life = stage.begin(world, &scene.work, FaultSchedule::default())?;
    // The lease is taken at the first edge in memory, a few further on a disk.
    let until = 2 + world.below(usize::try_from(fault_points).unwrap_or(usize::MAX)) as u64;
    let reached = world.drive(|| life.is_over() || world.fault_points(life.process) >= until);
    reached.map_err(|reason| BrokenInvariant::new(Invariant::Finished, reason))?;
    Ok(life)
}

/// In each step of a lifecycle a second process comes while the first one is at work: one of them does everything, the
/// other is told who does.
///
/// # Errors
/// What does not hold.
pub fn second_writer(seed: u64, program: u64, store: Kind) -> Result<Meetings, BrokenInvariant> {
    let mut meetings = Meetings::default();
    for (scene, fault_points) in scenes(seed, program, setting(store, program)).map_err(|failure| failure.broken)? {
        let (world, stage) = (scene.world(), scene.before.copy()?);
        let one = first(&scene, fault_points, &world, &stage)?;
        let other = stage.begin(&world, &scene.work, FaultSchedule::default())?;
        until_over(&world, &[&one, &other])?;
        let (one, other) = (one.report(), other.report());
        match (&one.outcome, &other.outcome) {
            (LifeOutcome::Done(_), LifeOutcome::Done(_)) => meetings.in_turn += 1,
            (LifeOutcome::Done(_), LifeOutcome::Refused(reason))
            | (LifeOutcome::Refused(reason), LifeOutcome::Done(_))
                if reason.contains("is locked") =>
            {
                meetings.refused += 1;
            }
            outcomes => return Err(broken(format!("the two ended as {outcomes:?}"))),
        }
        stage.ended(&world, one.process, End::Kill);
        stage.ended(&world, other.process, End::Kill);
        nothing_lost(&other.log, &stage.snapshot(&world)?)?;
        if !is_whole(&stage, &world, &[], 0)?.is_empty() {
            return Err(broken("two processes at once left something over"));
        }
    }
    Ok(meetings)
}

/// In each step of a lifecycle a second process takes the stack away from the first one, which goes on without knowing:
/// nothing that it writes from then on is accepted. Gives how often the first one had to be told so.
///
/// # Errors
/// What does not hold.
pub fn zombie(seed: u64, program: u64, store: Kind) -> Result<u64, BrokenInvariant> {
    let mut told = 0;
    for (scene, fault_points) in scenes(seed, program, setting(store, program)).map_err(|failure| failure.broken)? {
        let (world, stage) = (scene.world(), scene.before.copy()?);
        let one = first(&scene, fault_points, &world, &stage)?;
        let was_over = one.is_over();
        let other = stage.take_over(&world, &scene.work)?;
        until_over(&world, &[&one, &other])?;
        let (one, other) = (one.report(), other.report());
        let trace = world.trace();
        let after = trace.lines().skip_while(|line| !line.ends_with(TAKEN_OVER));
        let wrote = format!("process {} wrote", one.process);
        if let Some(line) = after.clone().find(|line| line.contains(&wrote)) {
            return Err(broken(format!("the one that had lost its lease wrote: {line}")));
        }
        match (&one.outcome, &other.outcome) {
            (LifeOutcome::Done(Err(_)) | LifeOutcome::Refused(_), LifeOutcome::Done(_)) => told += u64::from(!was_over),
            (LifeOutcome::Done(Ok(())), LifeOutcome::Done(_)) if was_over => {}
            // Nothing was left to be written when the lease was lost.
            (LifeOutcome::Done(Ok(())), LifeOutcome::Done(_)) => {}
            outcomes => return Err(broken(format!("the two ended as {outcomes:?}"))),
        }
        stage.ended(&world, one.process, End::Kill);
        stage.ended(&world, other.process, End::Kill);
        nothing_lost(&other.log, &stage.snapshot(&world)?)?;
        let creating = one.log.creating.len() + other.log.creating.len();
        is_whole(&stage, &world, &[one, other], creating)?;
    }
    Ok(told)
}
