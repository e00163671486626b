//! Where the engine's futures are polled: on threads that Python made, so that tracing, coverage and breakpoints see
//! the provider methods that are called from inside a poll.
//!
//! A worker is blocked only while a synchronous provider method runs; a future that waits gives its worker back. One
//! idle worker is kept at hand whenever another is about to run user code, so the pool grows with the calls that block
//! (which the engine limits to `--parallel`) and never with the number of resources.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};

use futures::FutureExt;
use futures::future::BoxFuture;
use pyo3::prelude::*;

thread_local! {
    /// Is this thread one that must not run user code (the program's event loop)? Then a provider call moves on.
    static LOOP_THREAD: Cell<bool> = const { Cell::new(false) };
    /// The `contextvars.Context` of the task that is being polled.
    static CONTEXT: RefCell<Option<Arc<Py<PyAny>>>> = const { RefCell::new(None) };
}

/// Locks even when another thread panicked while it held the lock: the data of this module stays valid at each step.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The `contextvars.Context` in which user code of the current task is to run, if the task has one of its own.
pub(crate) fn current_context() -> Option<Arc<Py<PyAny>>> {
    CONTEXT.with_borrow(Clone::clone)
}

/// Leaves the program's event loop before user code is run: there, it resolves on a worker; elsewhere at once.
pub(crate) async fn leave_event_loop() {
    let mut first = true;
    std::future::poll_fn(|context| {
        if first && LOOP_THREAD.get() {
            first = false;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(())
    })
    .await;
}

struct Signal {
    set: Mutex<bool>,
    changed: Condvar,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        *lock(&self.set) = true;
        self.changed.notify_one();
    }
}

/// Runs a future to its end on this thread. Call it detached from the interpreter. It may be nested (a provider method
/// that logs does that), which the executors of libraries refuse.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let signal = Arc::new(Signal { set: Mutex::new(false), changed: Condvar::new() });
    let waker = Waker::from(Arc::clone(&signal));
    let outer = LOOP_THREAD.replace(false);
    let value = loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            break value;
        }
        let mut set = lock(&signal.set);
        while !*set {
            set = signal.changed.wait(set).unwrap_or_else(PoisonError::into_inner);
        }
        *set = false;
    };
    LOOP_THREAD.set(outer);
    value
}

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

#[derive(Default)]
struct Queue {
    tasks: VecDeque<Arc<Task>>,
    /// Workers that look for work, poll, or sit in a provider method.
    alive: usize,
    idle: usize,
    /// Workers that were asked for and have not looked for work yet.
    starting: usize,
    closed: bool,
}

impl Queue {
    fn without_workers(&self) -> bool {
        self.alive + self.starting == 0
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
        queue.tasks.push_back(task);
        drop(queue);
        self.work.notify_one();
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
        // Without a worker (no program has run) the first task brings one; from then on they see to themselves.
        if lock(&self.queue).without_workers() {
            let started = Python::try_attach(|py| self.keep_one(py));
            if let Some(Err(error)) = started {
                Python::attach(|py| error.write_unraisable(py, None));
            }
        }
        let task = Arc::new(Task {
            // What a call is taken out of, to be given up by a time limit, runs where it would have run.
            work: Mutex::new(Some(Work { future, context: current_context() })),
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
        loop {
            if let Some(task) = queue.tasks.pop_front() {
                drop(queue);
                task.phase.store(phase::RUNNING, Ordering::Release);
                task.poll();
                queue = lock(&self.queue);
            } else if queue.closed {
                queue.alive -= 1;
                return;
            } else {
                queue.idle += 1;
                queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
                queue.idle -= 1;
            }
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

/// Runs a future to its end and turns a panic into `None`, so that no caller hangs.
pub(crate) fn without_panic<T>(future: impl Future<Output = T>) -> impl Future<Output = Option<T>> {
    AssertUnwindSafe(future).catch_unwind().map(Result::ok)
}
