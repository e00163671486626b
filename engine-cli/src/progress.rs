//! How far an operation has come, for a program that drives it: told at intervals, and whenever somebody asks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use maloko_core::{Engine, Progress};
use serde_json::{Value, json};

/// Takes reports of progress.
pub trait ProgressReports: Send + Sync {
    /// One report as JSON, without a line's end: `{ done, total, failed, reports, slowest: [[urn, method, seconds]] }`. Called on a
    /// thread of its own; the last call comes before the run's end.
    fn progress(&self, json: &str);
}

/// How far a run has come. All clones stand for the same run.
#[derive(Clone, Default)]
pub struct ProgressMeter(Arc<Meter>);

#[derive(Default)]
struct Meter {
    run: Mutex<MeteredRun>,
    /// How often somebody was told.
    reports: AtomicU64,
}

#[derive(Default)]
struct MeteredRun {
    engine: Weak<Engine>,
    /// Where the engine is gone: how far it came.
    last: Progress,
}

impl ProgressMeter {
    /// A report as JSON (see [`ProgressReports::progress`]); zeros where nothing has begun. May be called from any thread.
    #[must_use]
    pub fn read(&self) -> String {
        // The engine is asked without the lock: what it answers may take a lock of its own.
        let engine = self.run().engine.upgrade();
        let progress = engine.map_or_else(|| self.run().last.clone(), |engine| engine.progress());
        as_json(&progress, self.0.reports.fetch_add(1, Ordering::Relaxed) + 1).to_string()
    }

    /// From now on it is this engine that is looked at.
    pub(crate) fn watch(&self, engine: &Arc<Engine>) {
        self.run().engine = Arc::downgrade(engine);
    }

    /// The engine is done.
    pub(crate) fn leave(&self, engine: &Engine) {
        let last = engine.progress();
        *self.run() = MeteredRun { engine: Weak::new(), last };
    }

    fn run(&self) -> MutexGuard<'_, MeteredRun> {
        self.0.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn as_json(progress: &Progress, reports: u64) -> Value {
    let slowest: Vec<_> =
        progress.slowest.iter().map(|call| json!([call.urn, call.method, call.time.as_secs_f64()])).collect();
    json!({
        "done": progress.done,
        "total": progress.total,
        "failed": progress.failed,
        "reports": reports,
        "slowest": slowest,
    })
}

/// Whom a run is to tell how far it has come, and how often.
#[derive(Clone)]
pub struct ProgressListener {
    /// Who.
    pub to: Arc<dyn ProgressReports>,
    /// How long it is told nothing after a report.
    pub every: Duration,
}

/// The thread that tells of an operation. When this is dropped, it tells once more, and is gone.
pub(crate) struct ProgressTeller {
    /// Kept until the end.
    going_on: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressTeller {
    /// Begins to tell. A thread of its own: the one that runs the operation may be busy for as long as it likes.
    pub(crate) fn begin(meter: &ProgressMeter, listener: ProgressListener) -> std::io::Result<Self> {
        let (going_on, ended) = mpsc::channel::<()>();
        let meter = meter.clone();
        let thread = std::thread::Builder::new().name("maloko-progress".to_owned()).spawn(move || {
            while ended.recv_timeout(listener.every) == Err(RecvTimeoutError::Timeout) {
                listener.to.progress(&meter.read());
            }
            listener.to.progress(&meter.read());
        })?;
        Ok(Self { going_on: Some(going_on), thread: Some(thread) })
    }
}

impl Drop for ProgressTeller {
    fn drop(&mut self) {
        drop(self.going_on.take());
        if let Some(thread) = self.thread.take() {
            // One that panicked has told of itself on stderr, and the operation has its own end.
            drop(thread.join());
        }
    }
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
