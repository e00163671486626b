//! Where the engine's futures are polled: on threads that Python made, so that tracing, coverage and breakpoints see
//! the provider methods that are called from inside a poll.
//!
//! Only one thread can hold the interpreter's lock, and handing it over costs more than a short method. So one worker
//! at a time has the **turn**: it holds the lock and polls one task after the other. Another worker watches it. A poll
//! that takes long waits for something, most likely (a synchronous method that asks a service), without the lock: then the
//! turn passes to the watcher. What the program's event loop begins waits until the loop has nothing else to do, or for
//! a millisecond, so that the two threads do not ask each other for the lock at every resource.
//!
//! One idle worker is kept at hand whenever another is about to run user code, so the pool grows with the calls that
//! block (which the engine limits to `--parallel`) and never with the number of resources. A future that waits gives its
//! worker back.
//!
//! A poll must not wait for a lock that another thread holds while it waits for the interpreter's.

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use pyo3::prelude::*;

use crate::runtime::{CONTEXT, LOOP_THREAD, current_context, lock};

/// A poll that takes longer waits for something, most likely.
const LONG_POLL: Duration = Duration::from_micros(500);
/// So many times as long a watcher without tasks waits for some before it has to be woken, which costs a system call.
const LINGERS: u32 = 8;
/// What the program's event loop begins waits for more of it, but not longer.
const GATHERING: Duration = Duration::from_millis(1);

/// What a task is doing; one more wake while it runs means that it is polled again.
mod phase {
    pub(super) const IDLE: u8 = 0;
    pub(super) const QUEUED: u8 = 1;
    pub(super) const RUNNING: u8 = 2;
    pub(super) const RUNNING_AND_WOKEN: u8 = 3;
    /// It has ended; whoever still holds a waker (a timer) does not bring it back.
    pub(super) const DONE: u8 = 4;
}

struct Task {
    /// Gone once it is done, whoever holds the task for longer.
    work: Mutex<Option<Work>>,
    phase: AtomicU8,
    pool: Arc<Pool>,
}

struct Work {
    future: BoxFuture<'static, ()>,
    /// Where user code runs that it calls.
    context: Option<Arc<Py<PyAny>>>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        let next = |phase| match phase {
            phase::IDLE => Some(phase::QUEUED),
            phase::RUNNING => Some(phase::RUNNING_AND_WOKEN),
            _ => None,
        };
        if self.phase.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(phase::IDLE) {
            let pool = Arc::clone(&self.pool);
            pool.push(self);
        }
    }
}

impl Task {
    /// Polls once. The phase is `RUNNING` already.
    fn poll(self: Arc<Self>) {
        let mut slot = lock(&self.work);
        if let Some(work) = slot.as_mut() {
            let outer = CONTEXT.replace(work.context.clone());
            let waker = Waker::from(Arc::clone(&self));
            // A panic ends this task and not the worker; whoever waits for it sees its channel closed.
            let polled = std::panic::catch_unwind(AssertUnwindSafe(|| {
                work.future.as_mut().poll(&mut Context::from_waker(&waker))
            }));
            if !matches!(polled, Ok(Poll::Pending)) {
                *slot = None;
            }
            CONTEXT.set(outer);
        }
        if slot.is_none() {
            self.phase.store(phase::DONE, Ordering::Release);
            return;
        }
        drop(slot);
        let next = |phase| Some(if phase == phase::RUNNING_AND_WOKEN { phase::QUEUED } else { phase::IDLE });
        if self.phase.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) == Ok(phase::RUNNING_AND_WOKEN) {
            let pool = Arc::clone(&self.pool);
            pool.push(self);
        }
    }
}

/// The worker that polls tasks and holds the interpreter's lock, as far as is known.
struct Turn {
    worker: usize,
    /// When its poll began.
    since: Instant,
}

#[derive(Default)]
struct Queue {
    tasks: VecDeque<Arc<Task>>,
    turn: Option<Turn>,
    /// Until then the tasks may wait for more from the program's event loop.
    gathers_until: Option<Instant>,
    /// Is a worker awake, or will it be in time, to take the turn?
    watched: bool,
    /// Workers that look for work, poll, or sit in a provider method.
    alive: usize,
    idle: usize,
    /// Workers that were asked for and have not looked for work yet.
    starting: usize,
    /// Workers that there were, which gives each its number.
    numbered: usize,
    closed: bool,
}

impl Queue {
    fn without_workers(&self) -> bool {
        self.alive + self.starting == 0
    }

    /// How long a worker without the turn has to wait until it may take a task; `None` where there is none.
    fn wait_for_turn(&self) -> Option<Duration> {
        let at = match &self.turn {
            _ if self.tasks.is_empty() => return None,
            Some(turn) => Some(turn.since + LONG_POLL),
            None => self.gathers_until,
        };
        Some(at.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now())))
    }

    /// Takes a task and the turn. Where there is no task it is nobody's turn.
    fn take(&mut self, worker: usize) -> Option<Arc<Task>> {
        let task = self.tasks.pop_front();
        self.turn = task.is_some().then(|| Turn { worker, since: Instant::now() });
        task
    }

    fn is_turn_of(&self, worker: usize) -> bool {
        self.turn.as_ref().is_some_and(|turn| turn.worker == worker)
    }

    /// Is a worker to be woken, because tasks are there and nobody watches?
    fn wants_watcher(&mut self) -> bool {
        let wanted = !self.watched && self.idle > 0 && !self.tasks.is_empty();
        self.watched |= wanted;
        wanted
    }
}

/// The workers of a run and the tasks that they poll.
pub(crate) struct Pool {
    queue: Mutex<Queue>,
    /// The tasks that were handed to the workers. Some wait for what need not happen any more, such as the end of the engine,
    /// which they keep themselves; they go when the pool is closed.
    handed: Mutex<Vec<Weak<Task>>>,
    work: Condvar,
    /// Starts one more Python thread that calls [`Pool::work`].
    start_worker: Py<PyAny>,
}

impl Pool {
    /// A pool without workers. `start_worker` is a Python callable that starts a thread, which calls `work`.
    pub(crate) fn new(start_worker: Py<PyAny>) -> Arc<Self> {
        Arc::new(Self { queue: Mutex::default(), handed: Mutex::default(), work: Condvar::new(), start_worker })
    }

    fn push(&self, task: Arc<Task>) {
        let mut queue = lock(&self.queue);
        if queue.closed && queue.without_workers() {
            // Nobody would take it out again; it would keep the pool, and the pool it.
            drop(queue);
            drop(task);
            return;
        }
        let gathers = LOOP_THREAD.get();
        if !gathers {
            queue.gathers_until = None;
        } else if queue.tasks.is_empty() {
            queue.gathers_until = Some(Instant::now() + GATHERING);
        }
        queue.tasks.push_back(task);
        let may_be_taken = queue.turn.is_none() && !gathers;
        let wakes = queue.wants_watcher() || may_be_taken;
        drop(queue);
        if wakes {
            self.work.notify_one();
        }
    }

    /// Says that the program's event loop has nothing else to do, so what it began goes on.
    pub(crate) fn go_on(&self) {
        let mut queue = lock(&self.queue);
        queue.gathers_until = None;
        let may_be_taken = queue.turn.is_none() && !queue.tasks.is_empty();
        drop(queue);
        if may_be_taken {
            self.work.notify_one();
        }
    }

    /// Begins a task on this thread, which belongs to the program's event loop: it is polled once here, without ever
    /// running user code, and afterwards by workers. Call it detached.
    pub(crate) fn begin_on_event_loop(self: &Arc<Self>, context: Option<Py<PyAny>>, future: BoxFuture<'static, ()>) {
        let task = Arc::new(Task {
            work: Mutex::new(Some(Work { future, context: context.map(Arc::new) })),
            phase: AtomicU8::new(phase::RUNNING),
            pool: Arc::clone(self),
        });
        let outer = LOOP_THREAD.replace(true);
        task.poll();
        LOOP_THREAD.set(outer);
    }

    /// Hands a task to the workers. May be called from any thread.
    pub(crate) fn spawn(self: &Arc<Self>, future: BoxFuture<'static, ()>) {
        // What a call is taken out of, to be given up by a time limit, runs where it would have run.
        self.spawn_in(current_context(), future);
    }

    /// The same, with the context in which user code runs that the task calls.
    pub(crate) fn spawn_in(self: &Arc<Self>, context: Option<Arc<Py<PyAny>>>, future: BoxFuture<'static, ()>) {
        // Without a worker (no program has run) the first task brings one; from then on they see to themselves.
        if lock(&self.queue).without_workers() {
            let started = Python::try_attach(|py| self.keep_one(py));
            if let Some(Err(error)) = started {
                // Nobody would ever poll it. Whoever waits for the task learns that it is gone.
                Python::attach(|py| error.write_unraisable(py, None));
                return;
            }
        }
        let task = Arc::new(Task {
            work: Mutex::new(Some(Work { future, context })),
            phase: AtomicU8::new(phase::QUEUED),
            pool: Arc::clone(self),
        });
        let mut handed = lock(&self.handed);
        if handed.len() == handed.capacity() {
            handed.retain(|task| task.strong_count() > 0);
        }
        handed.push(Arc::downgrade(&task));
        drop(handed);
        self.push(task);
    }

    /// Makes sure that there is a worker.
    pub(crate) fn keep_one(&self, py: Python<'_>) -> PyResult<()> {
        let queue = lock(&self.queue);
        if queue.without_workers() { self.start(py, queue) } else { Ok(()) }
    }

    /// Makes sure that a worker is at hand for the others' tasks; called before a thread runs user code.
    pub(crate) fn keep_one_idle(&self, py: Python<'_>) -> PyResult<()> {
        let queue = lock(&self.queue);
        if queue.idle + queue.starting == 0 { self.start(py, queue) } else { Ok(()) }
    }

    fn start(&self, py: Python<'_>, mut queue: MutexGuard<'_, Queue>) -> PyResult<()> {
        if queue.closed {
            return Ok(());
        }
        queue.starting += 1;
        drop(queue);
        self.start_worker.call0(py).map(|_| ()).inspect_err(|_| lock(&self.queue).starting -= 1)
    }

    /// A worker's life: polls tasks until the pool is closed. Call it detached.
    pub(crate) fn work(&self) {
        let mut queue = lock(&self.queue);
        queue.starting = queue.starting.saturating_sub(1);
        queue.alive += 1;
        queue.numbered += 1;
        let worker = queue.numbered;
        let mut lingered = 0;
        loop {
            let time = match queue.wait_for_turn() {
                Some(Duration::ZERO) => {
                    let task = self.take_turn(worker, queue);
                    self.poll_in_turn(worker, task);
                    queue = lock(&self.queue);
                    lingered = 0;
                    continue;
                }
                None if queue.closed => {
                    queue.alive -= 1;
                    return;
                }
                time if queue.watched || lingered == LINGERS => time.filter(|_| !queue.watched),
                time => time.or_else(|| {
                    lingered += 1;
                    Some(LONG_POLL)
                }),
            };
            queue.idle += 1;
            if let Some(time) = time {
                queue.watched = true;
                queue = self.work.wait_timeout(queue, time).unwrap_or_else(PoisonError::into_inner).0;
            } else {
                queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
                lingered = 0;
            }
            queue.idle -= 1;
            queue.watched = false;
        }
    }

    /// The next task, with the turn; another worker is awake then to go on with those that are left.
    fn take_turn(&self, worker: usize, mut queue: MutexGuard<'_, Queue>) -> Option<Arc<Task>> {
        let task = queue.take(worker);
        let wakes = queue.wants_watcher();
        drop(queue);
        if wakes {
            self.work.notify_one();
        }
        task
    }

    /// Polls this task and what comes after it, until the turn has passed to another worker or nothing is left.
    fn poll_in_turn(&self, worker: usize, mut task: Option<Arc<Task>>) {
        let mut poll = || {
            while let Some(current) = task.take() {
                current.phase.store(phase::RUNNING, Ordering::Release);
                current.poll();
                let queue = lock(&self.queue);
                task = if queue.is_turn_of(worker) { self.take_turn(worker, queue) } else { None };
            }
        };
        // Without the interpreter, which shuts down, calls say so themselves.
        if Python::try_attach(|_| poll()).is_none() {
            poll();
        }
    }

    /// Lets the workers go once nothing is left to poll. A worker inside a provider method leaves when that returns. Call
    /// it detached.
    pub(crate) fn close(&self) {
        lock(&self.queue).closed = true;
        self.work.notify_all();
        let handed = std::mem::take(&mut *lock(&self.handed));
        for task in handed.iter().filter_map(Weak::upgrade) {
            // One that is locked is at work; it goes when its provider method returns.
            if let Ok(mut work) = task.work.try_lock() {
                *work = None;
            }
        }
    }
}
