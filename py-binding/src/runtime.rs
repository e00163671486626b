//! What a thread knows of itself while it polls the engine's futures, and futures that are polled to their end at once.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures::FutureExt;
use pyo3::prelude::*;

thread_local! {
    /// Is this thread one that must not run user code (the program's event loop)? Then a provider call moves on.
    pub(crate) static LOOP_THREAD: Cell<bool> = const { Cell::new(false) };
    /// The `contextvars.Context` of the task that is being polled.
    pub(crate) static CONTEXT: RefCell<Option<Arc<Py<PyAny>>>> = const { RefCell::new(None) };
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

/// Runs a future to its end and turns a panic into `None`, so that no caller hangs.
pub(crate) fn without_panic<T>(future: impl Future<Output = T>) -> impl Future<Output = Option<T>> {
    AssertUnwindSafe(future).catch_unwind().map(Result::ok)
}
