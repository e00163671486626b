//! What a library that drives the command line shares with it: events on the way out, cancellation on the way in, and what
//! came of the operation at the end.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use maloko_core::error::Reason;
use maloko_core::event::{Outcome, Severity};
use maloko_core::provider::HostError;
use maloko_core::urn::Urn;
use maloko_core::{Engine, Report};

use crate::failure::{Failure, Result, Why};
use crate::language_host::ErrorText;
use crate::progress::{ProgressListener, ProgressMeter};

/// Takes engine events.
pub trait EngineEvents: Send + Sync {
    /// One event as the JSON that `--json` prints, without a line's end. Called on a thread of the display, in order; the
    /// last call comes before the run's end.
    fn event(&self, json: &str);

    /// Are messages (`diagnosticEvent`) all that is wanted? Each resource has several other events.
    fn wants_messages_alone(&self) -> bool {
        false
    }
}

/// Stops a run from outside, as a first Ctrl-C does: nothing new begins, and what is in flight is waited for and
/// recorded. All clones stand for the same run.
#[derive(Clone, Default)]
pub struct Cancellation(Arc<Mutex<Cancelling>>);

#[derive(Default)]
struct Cancelling {
    requested: bool,
    /// An operation has begun.
    begun: bool,
    /// Something was called off before it could begin.
    called_off: bool,
    engine: Weak<Engine>,
}

impl Cancellation {
    /// Asks the run to end, now or before it has begun. May be called from any thread, and more than once.
    pub fn cancel(&self) {
        let engine = {
            let mut cancelling = self.lock();
            let again = std::mem::replace(&mut cancelling.requested, true);
            if again { None } else { cancelling.engine.upgrade() }
        };
        if let Some(engine) = engine {
            stop(&engine);
        }
    }

    /// Does an operation go on now?
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.lock().engine.strong_count() > 0
    }

    /// Has somebody asked for the end?
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.lock().requested
    }

    /// Asks on behalf of what has not begun yet: where it is to end, it must not begin.
    pub(crate) fn calls_off(&self) -> bool {
        let mut cancelling = self.lock();
        let off = cancelling.requested && !cancelling.begun;
        cancelling.called_off |= off;
        off
    }

    /// Was something called off before it began?
    pub(crate) fn has_called_off(&self) -> bool {
        self.lock().called_off
    }

    /// From now on it is this engine that is stopped.
    pub(crate) fn watch(&self, engine: &Arc<Engine>) {
        let mut cancelling = self.lock();
        cancelling.begun = true;
        cancelling.engine = Arc::downgrade(engine);
        let requested = cancelling.requested;
        drop(cancelling);
        if requested {
            stop(engine);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Cancelling> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stop(engine: &Engine) {
    engine.tell(Severity::Warning, "cancelled: nothing new begins; what is in flight is waited for");
    engine.cancel();
}

/// The outcome of a command line.
#[derive(Clone)]
pub struct CommandOutcome {
    /// The exit code that the process would have had (docs/reference/command-line.md has the list).
    pub code: i32,
    /// The message with which the command line would have ended, without `error:`; empty when there is none, or when it
    /// was told as an event.
    pub message: String,
    /// The outcome of the operation, if the command was one and got as far as to begin.
    pub operation: Option<OperationEnd>,
    /// Why it did not do what was asked; `None` where it did.
    pub why: Option<Why>,
}

/// The outcome of an operation (`up`, `preview`, `refresh`, `destroy`, `import`).
#[derive(Clone)]
pub struct OperationEnd {
    /// How it ended.
    pub outcome: Outcome,
    /// The number of resources by what was done to them, such as `create`.
    pub changes: BTreeMap<&'static str, u64>,
    /// Was anything written to the state? Not in a preview, nor in a run that found everything as it should be; such a run
    /// has no entry in the stack's history either.
    pub state_written: bool,
    /// Why it did not do what was asked; `None` where it succeeded.
    pub why: Option<Why>,
    /// The first error in words, without secrets.
    pub error: Option<String>,
    /// The object that the host raised for the first error: an exception of the program or of a provider.
    pub source: Option<HostError>,
    /// The same in words and without secrets, for a process that does not have the object.
    pub exception: Option<ErrorText>,
    /// The resource that the first error is about.
    pub urn: Option<Urn>,
    /// The provider's method from which the first error came, such as `create`.
    pub method: Option<&'static str>,
    /// The other stacks that the program has read, each as `project/stack`.
    pub read: Vec<String>,
    /// The first warnings, in a line each, without secrets.
    pub warnings: Vec<String>,
    /// Where it changes nothing, the first differences that it has found, in a line each, without secrets.
    pub differences: Vec<String>,
    /// What was recorded of the run, for [`crate::page_of_record`]; `None` where that is too much.
    pub page: Option<String>,
}

impl OperationEnd {
    pub(crate) fn new(
        report: &Report,
        exception: Option<ErrorText>,
        (warnings, differences): (Vec<String>, Vec<String>),
        page: Option<String>,
    ) -> Self {
        Self {
            outcome: report.summary.outcome,
            changes: report.summary.changes.clone(),
            state_written: report.state_written,
            why: why_of(report),
            error: report.error.as_ref().map(ToString::to_string),
            source: report.source.clone(),
            exception,
            urn: report.urn.clone(),
            method: report.method,
            read: report.read.clone(),
            warnings,
            differences,
            page,
        }
    }
}

/// Why an operation did not do what was asked. One that lost its lease was stopped by that.
pub(crate) fn why_of(report: &Report) -> Option<Why> {
    let reason = match (report.summary.outcome, report.reason) {
        (Outcome::Succeeded, _) => return None,
        (_, Some(Reason::LeaseLost)) => Reason::LeaseLost,
        (Outcome::Cancelled, _) => Reason::Cancelled,
        (Outcome::Failed, reason) => reason.unwrap_or_default(),
    };
    // Of a run that was stopped by something else, what its first error may come to is no matter.
    let transience = report.transience.filter(|_| report.reason == Some(reason));
    let needs = report.needs.clone().filter(|_| reason == Reason::Needs);
    Some(Why { transience, needs, ..Why::new(reason, report.error.as_ref().map_or("", |error| error)) })
}

/// What a command has to know when it runs inside a library.
pub(crate) struct Library {
    pub(crate) events: Option<Arc<dyn EngineEvents>>,
    pub(crate) progress: Option<ProgressListener>,
    pub(crate) meter: ProgressMeter,
    pub(crate) cancellation: Cancellation,
    pub(crate) end: Mutex<Option<OperationEnd>>,
}

impl Library {
    /// Fails where the command is to end before its next part begins.
    pub(crate) fn go_on(&self) -> Result<()> {
        if self.cancellation.calls_off() { Err(called_off()) } else { Ok(()) }
    }

    /// Keeps what came of the operation for the caller.
    pub(crate) fn ended(&self, end: OperationEnd) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
    }

    pub(crate) fn take_end(&self) -> Option<OperationEnd> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The end of a command that was cancelled before it had begun anything.
pub(crate) fn called_off() -> Failure {
    Failure::cancelled("cancelled before it began")
}

/// Cuts what is written into lines and hands them on.
pub(crate) struct EventLines {
    to: Arc<dyn EngineEvents>,
    begun: Vec<u8>,
}

impl EventLines {
    pub(crate) fn new(to: Arc<dyn EngineEvents>) -> Self {
        Self { to, begun: Vec::new() }
    }
}

impl Write for EventLines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.begun.extend_from_slice(part);
            if self.begun.pop_if(|last| *last == b'\n').is_some() {
                self.to.event(&String::from_utf8_lossy(&self.begun));
                self.begun.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
