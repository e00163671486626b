//! The threads of the engine.

use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

// One worker: the engine needs a fraction of what the program's thread does, and a second one that looks for work made runs up to 6 % dearer.
// Stores, the journal and the live page have threads of their own.
static RUNTIME: LazyLock<std::io::Result<Runtime>> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).thread_name("maloko").enable_time().build());

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
