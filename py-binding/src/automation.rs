//! A run of the command line inside a Python process that goes on afterwards, for `maloko.automation`.
//!
//! The command line has a thread of its own; what it asks of Python is done on the thread that called `run`, so that a
//! program runs where its caller stands.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use maloko_cli::{
    Cancellation, CommandOutcome, EngineEvents, Invocation, LanguageHost, OperationEnd, ProgressListener,
    ProgressMeter, ProgressReports,
};
use maloko_core::environment::KnownKeys;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::exception_of;
use crate::language_host::PythonLanguageHost;
use crate::runtime::lock;

/// The keys of this process: operations follow one another on the same stacks.
static KNOWN_KEYS: LazyLock<KnownKeys> = LazyLock::new(KnownKeys::default);

/// Hands bytes to a Python callable, which must be quick: threads of the engine call it.
struct Sink(Py<PyAny>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        deliver(|py| self.0.call1(py, (PyBytes::new(py, bytes),)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

struct Events {
    to: Py<PyAny>,
    messages_alone: bool,
}

impl EngineEvents for Events {
    fn event(&self, json: &str) {
        deliver(|py| self.to.call1(py, (json,)));
    }

    fn wants_messages_alone(&self) -> bool {
        self.messages_alone
    }
}

struct Progress(Py<PyAny>);

impl ProgressReports for Progress {
    fn progress(&self, json: &str) {
        deliver(|py| self.0.call1(py, (json,)));
    }
}

fn deliver(call: impl for<'py> FnOnce(Python<'py>) -> PyResult<Py<PyAny>>) {
    // An interpreter that shuts down has nobody left who reads.
    let _ = Python::try_attach(|py| {
        if let Err(error) = call(py) {
            error.write_unraisable(py, None);
        }
    });
}

/// Outcome, counts by op, was the state written, the first error, the exception behind it, its URN and method, the other
/// stacks that were read, warnings, differences, and the record for the page.
type Operation = (
    &'static str,
    BTreeMap<&'static str, u64>,
    bool,
    Option<String>,
    Option<Py<PyAny>>,
    Option<String>,
    Option<&'static str>,
    (Vec<String>, Vec<String>, Vec<String>, Option<String>),
);

/// One run of the command line.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct LibraryRun {
    invocation: Mutex<Option<Invocation>>,
    cancellation: Cancellation,
    meter: ProgressMeter,
}

#[pymethods]
impl LibraryRun {
    /// A run of these arguments. `directory` is absolute; `variables` stand for the environment; `out` and `err` take
    /// bytes, `event` the JSON of an engine event (with `messages_alone` of those that have a message), `progress` that of a report
    /// of progress, one after `every` seconds at most, each from a thread of the engine.
    #[new]
    #[pyo3(signature = (
        arguments: "list[str]", directory, variables: "dict[str, str]", out: "object", err: "object", event: "object | None" = None,
        progress: "object | None" = None, every: "float" = 2.5, messages_alone: "bool" = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn new(
        arguments: Vec<OsString>,
        directory: PathBuf,
        variables: BTreeMap<String, OsString>,
        out: Py<PyAny>,
        err: Py<PyAny>,
        event: Option<Py<PyAny>>,
        progress: Option<Py<PyAny>>,
        every: f64,
        messages_alone: bool,
    ) -> PyResult<Self> {
        let (cancellation, meter) = (Cancellation::default(), ProgressMeter::default());
        let every = Duration::try_from_secs_f64(every).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let invocation = Invocation {
            arguments,
            directory,
            variables,
            out: Box::new(Sink(out)),
            err: Box::new(Sink(err)),
            events: event.map(|to| Arc::new(Events { to, messages_alone }) as Arc<dyn EngineEvents>),
            progress: progress.map(|to| ProgressListener { to: Arc::new(Progress(to)), every }),
            meter: meter.clone(),
            cancellation: cancellation.clone(),
            known_keys: KNOWN_KEYS.clone(),
        };
        Ok(Self { invocation: Mutex::new(Some(invocation)), cancellation, meter })
    }

    /// Runs to the end on this thread, on which no event loop may be running, and gives the exit code, the last message
    /// and, for an operation that has begun, its outcome; last, where it failed, why, as JSON. `language_host` is a `maloko._command_line.language_host.LanguageHost` or its like, `host` a
    /// `maloko._run.host.Host`. A signal that Python's handlers turn into an exception cancels the run, which is awaited all
    /// the same; then the exception is raised.
    #[pyo3(signature = (
        language_host: "object", host: "object"
    ) -> "tuple[int, str, tuple[str, dict[str, int], bool, str | None, BaseException | None, str | None, str | None, tuple[list[str], list[str], list[str], str | None]] | None, str | None]")]
    fn run(
        &self,
        py: Python<'_>,
        language_host: Py<PyAny>,
        host: Py<PyAny>,
    ) -> PyResult<(i32, String, Option<Operation>, Option<String>)> {
        let Some(invocation) = lock(&self.invocation).take() else {
            return Err(PyRuntimeError::new_err("a run runs once"));
        };
        let mut interrupt: Option<PyErr> = None;
        let finished = PythonLanguageHost::serve(
            py,
            language_host,
            host,
            |language_host| async { maloko_cli::run_in(invocation, language_host as Arc<dyn LanguageHost>).await },
            |py| {
                if let Err(error) = py.check_signals() {
                    self.cancel(py);
                    interrupt = Some(error);
                }
            },
        )?;
        if let Some(interrupt) = interrupt {
            return Err(interrupt);
        }
        let CommandOutcome { code, message, operation, why } = finished
            .ok_or_else(|| PyRuntimeError::new_err("the engine failed; this is a fault of maloko, please report it"))?;
        Ok((code, message, operation.map(|end| told(py, end)), why.map(|why| why.to_json().to_string())))
    }

    /// A report of progress as JSON, from any thread.
    fn progress(&self, py: Python<'_>) -> String {
        py.detach(|| self.meter.read())
    }

    /// Asks the run to end: nothing new begins, what is in flight is waited for.
    fn cancel(&self, py: Python<'_>) {
        py.detach(|| self.cancellation.cancel());
    }
}

fn told(py: Python<'_>, end: OperationEnd) -> Operation {
    let outcome = end.outcome.name();
    let exception = end.source.as_ref().and_then(|source| exception_of(py, source));
    let urn = end.urn.map(|urn| urn.as_str().to_owned());
    let told = (end.read, end.warnings, end.differences, end.page);
    (outcome, end.changes, end.state_written, end.error, exception, urn, end.method, told)
}
