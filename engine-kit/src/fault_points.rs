//! The points at which a run may be cut off: every call of a provider, on the way there and on the way back, and every
//! write to the store.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use futures::FutureExt;
use maloko_core::Engine;
use maloko_core::state::{Backend, StackName};
use serde::{Deserialize, Serialize};

use crate::labels;

/// What happens at a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interruption {
    /// The process is gone; a write that it was doing is torn.
    #[default]
    Kill,
    /// The call or write fails, and had no effect.
    RaiseBefore,
    /// The call or write fails, and had its effect.
    RaiseAfter,
    /// There is no answer. A call that hangs is given up as by Ctrl-C; a write that hangs ends as the process is killed.
    Hang,
    /// The store is full.
    Enospc,
    /// Somebody else has taken the stack.
    LoseLock,
}

impl Interruption {
    /// All of them, in the order in which messages list them.
    pub(crate) const ALL: [Self; 6] =
        [Self::Kill, Self::RaiseBefore, Self::RaiseAfter, Self::Hang, Self::Enospc, Self::LoseLock];

    /// As tests write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::RaiseBefore => "raise_before",
            Self::RaiseAfter => "raise_after",
            Self::Hang => "hang",
            Self::Enospc => "enospc",
            Self::LoseLock => "lose_lock",
        }
    }

    /// Why one of these texts is the name of no interruption; `None` when all are.
    pub(crate) fn mistake(given: &[String]) -> Option<String> {
        let all = Self::ALL.map(Self::name);
        let wrong = given.iter().find(|name| !all.contains(&name.as_str()))?;
        Some(format!("'{wrong}' is no kind of crash: there are {}", all.join(", ")))
    }
}

/// Where and how the process ends before it is done, or something fails.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Crash {
    /// The number of the point, counted over all operations of the stack, from 1. Which point has which number depends on the
    /// turns that resources take at the same time.
    #[serde(default)]
    pub point: u64,
    /// Its label, which is the same in every run; counts in place of the number.
    #[serde(default)]
    pub label: Option<String>,
    /// What happens there.
    pub kind: Interruption,
}

/// A point that a run has passed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Its number among those of the stack, from 1.
    pub number: u64,
    /// What it is: `before create of b`, `journal: creating b`; with a number behind it where the stack has passed such a one
    /// before (`before create of b (2)`). The same in every run of the same program.
    pub label: String,
    /// What can happen there.
    pub kinds: Vec<Interruption>,
}

const BEFORE: [Interruption; 4] =
    [Interruption::Kill, Interruption::RaiseBefore, Interruption::Hang, Interruption::LoseLock];
const AFTER: [Interruption; 4] =
    [Interruption::Kill, Interruption::RaiseAfter, Interruption::Hang, Interruption::LoseLock];
const WRITE: [Interruption; 6] = [
    Interruption::Kill,
    Interruption::RaiseBefore,
    Interruption::RaiseAfter,
    Interruption::Hang,
    Interruption::Enospc,
    Interruption::LoseLock,
];
/// Giving up a journal takes no room.
const REMOVAL: [Interruption; 5] = [
    Interruption::Kill,
    Interruption::RaiseBefore,
    Interruption::RaiseAfter,
    Interruption::Hang,
    Interruption::LoseLock,
];

/// A point that an `up` will pass, as its plan tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlannedPoint {
    /// Its label, without a number.
    pub label: String,
    /// So many of the same label come before it in the run.
    pub ahead: usize,
}

/// The points at which this can happen to an `up` that does `steps` (action and name): in the order of the steps, and then
/// those of its end. None where it does nothing.
pub(crate) fn planned(steps: &[(String, String)], kind: Interruption) -> Vec<PlannedPoint> {
    if steps.is_empty() {
        return Vec::new();
    }
    let calls = steps.iter().flat_map(|(action, name)| labels::of_action(action, name));
    let all = calls.chain(labels::OF_THE_END.map(str::to_owned));
    let mut seen: HashMap<String, usize> = HashMap::new();
    let counted = all.map(|label| {
        let times = seen.entry(label.clone()).or_default();
        *times += 1;
        PlannedPoint { label, ahead: *times - 1 }
    });
    counted.filter(|point| kinds_at(&point.label).contains(&kind)).collect()
}

fn kinds_at(label: &str) -> &'static [Interruption] {
    match label.split(' ').next() {
        Some("before") => &BEFORE,
        Some("after") => &AFTER,
        _ if label == labels::REMOVAL => &REMOVAL,
        _ => &WRITE,
    }
}

/// How many points the runs of a stack have passed, and how often those of each label. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct PointCounter(Arc<Mutex<(u64, HashMap<String, u64>)>>);

impl PointCounter {
    pub(crate) fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// The number and the label of one more.
    fn pass(&self, label: String) -> (u64, String) {
        let mut passed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        passed.0 += 1;
        let number = passed.0;
        let times = passed.1.entry(label.clone()).or_default();
        *times += 1;
        (number, if *times == 1 { label } else { format!("{label} ({times})") })
    }
}

/// The points of one run.
pub(crate) struct FaultPoints {
    /// Shared by all runs of the stack.
    passed: PointCounter,
    crash: Option<Crash>,
    state: Mutex<State>,
    engine: OnceLock<Weak<Engine>>,
    store: (Arc<dyn Backend>, StackName),
}

#[derive(Default)]
struct State {
    points: Vec<Point>,
    struck: Option<(Point, Interruption)>,
    dead: bool,
}

impl FaultPoints {
    pub(crate) fn new(passed: PointCounter, crash: Option<Crash>, backend: Arc<dyn Backend>, stack: StackName) -> Self {
        Self { passed, crash, state: Mutex::default(), engine: OnceLock::new(), store: (backend, stack) }
    }

    pub(crate) fn bind(&self, engine: &Arc<Engine>) {
        // There is one engine for each run, so that this is the first time.
        let _ = self.engine.set(Arc::downgrade(engine));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self, label: String, kinds: &[Interruption]) -> Option<Interruption> {
        let mut state = self.state();
        let (number, label) = self.passed.pass(label);
        let point = Point { number, label, kinds: kinds.to_vec() };
        let is_it = |crash: &&Crash| match &crash.label {
            Some(label) => *label == point.label,
            None => crash.point == number,
        };
        let interruption =
            self.crash.as_ref().filter(is_it).map(|crash| crash.kind).filter(|kind| kinds.contains(kind));
        state.points.push(point.clone());
        state.struck = Some((point, interruption?));
        interruption
    }

    /// A call is about to be made, or has been made.
    pub(crate) fn call(&self, before: bool, method: &str, name: &str) -> Option<Interruption> {
        self.pass(labels::of_call(before, method, name), if before { &BEFORE } else { &AFTER })
    }

    /// The store is about to be written.
    pub(crate) fn write(&self, what: &str, removal: bool) -> Option<Interruption> {
        self.pass(what.to_owned(), if removal { &REMOVAL } else { &WRITE })
    }

    /// The process is gone: nothing that it still does has an effect.
    pub(crate) fn die(&self) {
        self.state().dead = true;
        self.give_up();
    }

    /// Somebody else takes the stack.
    pub(crate) fn lose_lock(&self) {
        let (backend, stack) = &self.store;
        // The answer is there at once, and it is not needed.
        let _ = backend.break_locks(stack).now_or_never();
    }

    /// The user ends the run, as with Ctrl-C.
    pub(crate) fn give_up(&self) {
        if let Some(engine) = self.engine.get().and_then(Weak::upgrade) {
            engine.cancel();
        }
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.state().dead
    }

    /// The points so far, and what happened at which.
    pub(crate) fn passed(&self) -> (Vec<Point>, Option<(Point, Interruption)>) {
        let state = self.state();
        (state.points.clone(), state.struck.clone())
    }
}

#[cfg(test)]
#[path = "fault_points_tests.rs"]
mod tests;
