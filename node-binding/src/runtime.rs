//! The threads of the engine.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

/// So many operations have a thread of their own at a time; more wait. One that an operation's own program begins must not.
const OPERATIONS: usize = 10_000;

// One worker: the engine needs a fraction of what the program's thread does, and a second one that looks for work made runs up to 6 % dearer.
// Stores, the journal and the live page have threads of their own.
static RUNTIME: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).max_blocking_threads(OPERATIONS).thread_name("maloko").enable_time().build()
});

/// The runtime of this process. It is made at its first use and lives as long as the process: JavaScript threads
/// (workers) come and go beside it.
pub(crate) fn runtime() -> napi::Result<&'static Runtime> {
    RUNTIME
        .as_ref()
        .map_err(|error| napi::Error::from_reason(format!("the engine's threads could not be started: {error}")))
}

/// Runs a task beside others, if the runtime could be started.
pub(crate) fn spawn(task: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = runtime() {
        runtime.spawn(task);
    }
}

/// Runs a task on a thread of its own, if the runtime could be started: one that derives keys and reads states, which must not hold up
/// what runs beside it.
pub(crate) fn spawn_apart(task: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = runtime() {
        drop(runtime.spawn_blocking(move || runtime.block_on(task)));
    }
}
