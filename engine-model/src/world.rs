//! A world of one thread: tasks that a seed takes turns with, a clock that only moves when nobody has anything to do,
//! and processes that can be killed at any of the edges which they pass.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::future::BoxFuture;
use maloko_core::environment::{Clock, Entropy, Environment, Identity, SystemFiles, Worker, Workers};

use maloko_test_support::random::Random;

/// How long a world may last: longer than any operation, so that whoever still waits then waits for ever.
const LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// The time of day when a world begins: 2026-01-01, in seconds.
const BEGINNING: i64 = 1_767_225_600;

/// Stands for bytes in a trace, so that other bytes make another trace (FNV-1a).
#[must_use]
pub fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

/// What happens to a process at an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It goes on.
    Passes,
    /// It is gone before it does what it was about to do.
    Dies,
    /// What it was about to do fails.
    Fails(io::ErrorKind),
}

/// What is in store for a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultSchedule {
    /// The edge at which it dies, from 1.
    pub dies_at: Option<u64>,
    /// The edge at which, and the error with which, its disk fails for once.
    pub fails_at: Option<(u64, io::ErrorKind)>,
    /// The end of a call of a plugin at which that plugin dies: before it acts, or before it answers; from 1.
    pub plugin_dies_at: Option<u64>,
}

#[derive(Default)]
struct Process {
    plan: FaultSchedule,
    alive: bool,
    fault_points: u64,
    plugin_points: u64,
}

struct Task {
    process: usize,
    future: Option<BoxFuture<'static, ()>>,
}

struct State {
    random: Random,
    elapsed: Duration,
    processes: Vec<Process>,
    tasks: BTreeMap<usize, Task>,
    next_task: usize,
    timers: BTreeMap<(Duration, u64), Waker>,
    next_timer: u64,
    trace: String,
    follows_flows: bool,
}

/// A world. Clones are the same world.
#[derive(Clone)]
pub struct World {
    state: Arc<Mutex<State>>,
    ready: Arc<Mutex<Vec<usize>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Alarm {
    task: usize,
    ready: Arc<Mutex<Vec<usize>>>,
}

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        let mut ready = locked(&self.ready);
        if !ready.contains(&self.task) {
            ready.push(self.task);
        }
    }
}

impl World {
    /// A world that the seed determines.
    #[must_use]
    pub fn new(seed: u64, program: u64) -> Self {
        let state = State {
            random: Random::new(seed, program),
            elapsed: Duration::ZERO,
            processes: Vec::new(),
            tasks: BTreeMap::new(),
            next_task: 0,
            timers: BTreeMap::new(),
            next_timer: 0,
            trace: String::new(),
            follows_flows: false,
        };
        Self { state: Arc::new(Mutex::new(state)), ready: Arc::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Begins a process; gives its number.
    #[must_use]
    pub fn begin(&self, plan: FaultSchedule) -> usize {
        let mut state = self.state();
        state.processes.push(Process { plan, alive: true, fault_points: 0, plugin_points: 0 });
        state.processes.len() - 1
    }

    /// Is the process still there?
    #[must_use]
    pub fn is_alive(&self, process: usize) -> bool {
        self.state().processes.get(process).is_some_and(|process| process.alive)
    }

    /// How many edges the process has passed.
    #[must_use]
    pub fn fault_points(&self, process: usize) -> u64 {
        self.state().processes.get(process).map_or(0, |process| process.fault_points)
    }

    /// How many ends of calls of plugins the process has come to.
    #[must_use]
    pub fn plugin_points(&self, process: usize) -> u64 {
        self.state().processes.get(process).map_or(0, |process| process.plugin_points)
    }

    /// A plugin of a process comes to an end of a call: does it die there?
    #[must_use]
    pub fn plugin_dies(&self, process: usize, what: &str) -> bool {
        let mut state = self.state();
        let State { processes, trace, elapsed, .. } = &mut *state;
        let Some(this) = processes.get_mut(process) else { return false };
        this.plugin_points += 1;
        let dies = this.plan.plugin_dies_at == Some(this.plugin_points);
        if dies {
            // Writing to a string cannot fail.
            let _ = writeln!(trace, "{:>9} process {process}: its plugin dies at: {what}", elapsed.as_micros());
        }
        dies
    }

    /// Ends a process: whatever it was doing is dropped, and nothing that it still tries has an effect.
    pub fn end(&self, process: usize) {
        if let Some(process) = self.state().processes.get_mut(process) {
            process.alive = false;
        }
        self.bury();
    }

    /// A process comes to an edge: a moment before something that others can see.
    #[must_use]
    pub fn edge(&self, process: usize, what: &str) -> Fate {
        let mut state = self.state();
        let State { processes, trace, elapsed, .. } = &mut *state;
        let Some(this) = processes.get_mut(process).filter(|process| process.alive) else { return Fate::Dies };
        this.fault_points += 1;
        let number = this.fault_points;
        let fate = match this.plan {
            FaultSchedule { dies_at: Some(at), .. } if at == number => Fate::Dies,
            FaultSchedule { fails_at: Some((at, kind)), .. } if at == number => Fate::Fails(kind),
            _ => Fate::Passes,
        };
        this.alive = fate != Fate::Dies;
        // Writing to a string cannot fail.
        let _ = writeln!(trace, "{:>9} process {process} edge {number} {what}: {fate:?}", elapsed.as_micros());
        fate
    }

    /// Writes down what happened.
    pub fn note(&self, what: &str) {
        let mut state = self.state();
        let at = state.elapsed.as_micros();
        let _ = writeln!(state.trace, "{at:>9} {what}");
    }

    /// Has runs write down where each registration and step stands, whenever that changes.
    pub fn follow_flows(&self) {
        self.state().follows_flows = true;
    }

    /// Are runs to do so?
    #[must_use]
    pub fn follows_flows(&self) -> bool {
        self.state().follows_flows
    }

    /// All that happened so far, a line each.
    #[must_use]
    pub fn trace(&self) -> String {
        self.state().trace.clone()
    }

    /// A random number below `end`.
    #[must_use]
    pub fn below(&self, end: usize) -> usize {
        self.state().random.below(end)
    }

    /// Begins a task of a process.
    pub fn spawn(&self, process: usize, future: BoxFuture<'static, ()>) {
        let id = self.new_task();
        self.state().tasks.insert(id, Task { process, future: Some(future) });
    }

    /// A number for a task, which can go on.
    fn new_task(&self) -> usize {
        let id = {
            let mut state = self.state();
            state.next_task += 1;
            state.next_task - 1
        };
        locked(&self.ready).push(id);
        id
    }

    /// Lets everybody go on until `done` is.
    ///
    /// # Errors
    /// When nobody can go on, or time has run out, and it is not.
    pub fn drive(&self, done: impl Fn() -> bool) -> Result<(), String> {
        loop {
            self.bury();
            if done() {
                return Ok(());
            }
            if let Some(task) = self.next()? {
                self.poll(task);
            }
        }
    }

    /// Does something beside all tasks, and gives its outcome.
    ///
    /// # Errors
    /// When nobody can go on, or time has run out, and it is not done.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> Result<T, String> {
        let mut work = pin!(work);
        let own = self.new_task();
        let waker = self.waker(own);
        loop {
            match self.next()? {
                Some(task) if task == own => {
                    if let Poll::Ready(done) = work.as_mut().poll(&mut Context::from_waker(&waker)) {
                        return Ok(done);
                    }
                }
                Some(task) => self.poll(task),
                None => {}
            }
        }
    }

    /// One of the tasks that can go on. `None`: there was none, and time has passed.
    fn next(&self) -> Result<Option<usize>, String> {
        let next = {
            let mut ready = locked(&self.ready);
            let index = self.below(ready.len());
            (!ready.is_empty()).then(|| ready.swap_remove(index))
        };
        if next.is_none() && !self.wait_for_timer() {
            return Err("nobody can go on, and the operation is not over".to_owned());
        }
        Ok(next)
    }

    fn waker(&self, task: usize) -> Waker {
        Waker::from(Arc::new(Alarm { task, ready: Arc::clone(&self.ready) }))
    }

    fn poll(&self, id: usize) {
        let Some(mut future) = self.state().tasks.get_mut(&id).and_then(|task| task.future.take()) else { return };
        let outcome = future.as_mut().poll(&mut Context::from_waker(&self.waker(id)));
        let mut state = self.state();
        match outcome {
            Poll::Ready(()) => drop(state.tasks.remove(&id)),
            Poll::Pending => {
                if let Some(task) = state.tasks.get_mut(&id) {
                    task.future = Some(future);
                    return;
                }
            }
        }
        // What the task held may come back to the world when it is dropped.
        drop(state);
    }

    /// Lets time pass until the next timer; false when there is none, or none within a lifetime.
    fn wait_for_timer(&self) -> bool {
        let mut state = self.state();
        let Some(((at, _), waker)) = state.timers.pop_first() else { return false };
        state.elapsed = state.elapsed.max(at);
        drop(state);
        waker.wake();
        at < LIFETIME
    }

    /// Drops the tasks of processes that are gone.
    fn bury(&self) {
        let gone: Vec<Task> = {
            let mut state = self.state();
            let State { processes, tasks, .. } = &mut *state;
            let of_dead = |task: &Task| processes.get(task.process).is_none_or(|process| !process.alive);
            let ids: Vec<usize> = tasks.iter().filter(|(_, task)| of_dead(task)).map(|(id, _)| *id).collect();
            ids.iter().filter_map(|id| tasks.remove(id)).collect()
        };
        // With the lock given back: what they hold may come back to the world.
        drop(gone);
    }

    /// The machine of a process, but for its disk.
    #[must_use]
    pub fn machine(&self, process: usize) -> Machine {
        Machine { world: self.clone(), process }
    }
}

/// Clock, randomness and threads as one process has them.
#[derive(Clone)]
pub struct Machine {
    /// The world that it is part of.
    pub world: World,
    /// The process.
    pub process: usize,
}

impl Machine {
    /// What state code takes from this machine; its disk is the real one.
    #[must_use]
    pub fn environment(&self) -> Environment {
        let machine = Arc::new(self.clone());
        let pid = u32::try_from(self.process).unwrap_or(0);
        Environment {
            clock: Arc::clone(&machine) as _,
            entropy: Arc::clone(&machine) as _,
            files: Arc::new(SystemFiles),
            workers: machine,
            identity: Arc::new(Identity { pid, user: "ann".to_owned(), host: "model".to_owned(), attempt: None }),
            linger: Duration::from_millis(3),
            known_keys: None,
            key_services: None,
            abandonment: None,
        }
    }
}

impl Clock for Machine {
    fn now(&self) -> jiff::Timestamp {
        let since = self.world.state().elapsed;
        let seconds = BEGINNING + i64::try_from(since.as_secs()).unwrap_or(0);
        let fraction = i32::try_from(since.subsec_nanos()).unwrap_or(0);
        jiff::Timestamp::new(seconds, fraction).unwrap_or_default()
    }

    fn elapsed(&self) -> Duration {
        self.world.state().elapsed
    }

    fn wait(&self, time: Duration) -> BoxFuture<'static, ()> {
        let until = self.world.state().elapsed + time;
        Box::pin(Timer { world: self.world.clone(), until, set: false })
    }
}

struct Timer {
    world: World,
    until: Duration,
    /// Is somebody woken when it is time? It is the task that began to wait, which waits to the end.
    set: bool,
}

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let set = std::mem::replace(&mut self.set, true);
        let mut state = self.world.state();
        if state.elapsed >= self.until {
            return Poll::Ready(());
        }
        if set {
            return Poll::Pending;
        }
        let number = state.next_timer;
        state.next_timer += 1;
        state.timers.insert((self.until, number), context.waker().clone());
        Poll::Pending
    }
}

impl Entropy for Machine {
    fn fill(&self, bytes: &mut [u8]) -> maloko_core::error::Result<()> {
        let mut state = self.world.state();
        bytes.fill_with(|| u8::try_from(state.random.below(256)).unwrap_or_default());
        Ok(())
    }
}

impl Workers for Machine {
    fn start(&self, _name: &str, work: BoxFuture<'static, ()>) -> io::Result<Box<dyn Worker>> {
        self.world.spawn(self.process, work);
        Ok(Box::new(Beside))
    }
}

struct Beside;

impl Worker for Beside {
    fn join(self: Box<Self>) {}
}
