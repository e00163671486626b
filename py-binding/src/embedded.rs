//! Operations without a command line: for the package's own tests and benches, and the ground of a library.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use maloko_core::event::{Event, EventSink, Outcome, Severity};
use maloko_core::operation::{ConfigValue, OperationKind};
use maloko_core::provider::Host;
use maloko_core::state::{Session, Snapshot, export_deployment};
use maloko_core::{Operation, ProgramEnd};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::engine::Engine;
use crate::error::{exception_of, host_error};
use crate::provider::PythonHost;
use crate::runtime::{block_on, lock};

/// The state of one stack, in memory.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct MemoryState {
    snapshot: Arc<Mutex<Snapshot>>,
}

#[pymethods]
impl MemoryState {
    #[new]
    fn new() -> Self {
        Self { snapshot: Arc::default() }
    }

    /// The state as Pulumi's deployment JSON, with secrets in plain text.
    fn export(&self) -> PyResult<String> {
        export_deployment(&lock(&self.snapshot), None, true).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}

/// Outcome, counts by op, the first error, and the exception behind it.
type Finished = (&'static str, BTreeMap<&'static str, u64>, Option<String>, Option<Py<PyAny>>);

/// What happened, for those who ask after the end.
#[derive(Default)]
struct Record {
    steps: Vec<(String, String)>,
    diagnostics: Vec<(String, String, String)>,
}

struct Recorder(Mutex<Record>);

impl EventSink for Recorder {
    fn emit(&self, event: Event) {
        match event {
            Event::StepDone(step) if !step.internal => {
                lock(&self.0).steps.push((step.op.name().to_owned(), step.urn.as_str().to_owned()));
            }
            Event::Diagnostic(diagnostic) => {
                let severity = match diagnostic.severity {
                    Severity::Debug => "debug",
                    Severity::Info => "info",
                    Severity::Output => "output",
                    Severity::Warning => "warning",
                    Severity::Error => "error",
                };
                let urn = diagnostic.urn.map(|urn| urn.as_str().to_owned()).unwrap_or_default();
                lock(&self.0).diagnostics.push((severity.to_owned(), urn, diagnostic.message));
            }
            _ => {}
        }
    }
}

/// One operation on a stack that is kept in memory.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct EmbeddedRun {
    engine: Arc<maloko_core::Engine>,
    host: Arc<PythonHost>,
    record: Arc<Recorder>,
    snapshot: Arc<Mutex<Snapshot>>,
}

#[pymethods]
impl EmbeddedRun {
    /// Begins an operation. `host` is a `maloko._host.Host`; `kind` is `update`, `refresh` or `destroy`.
    #[new]
    #[pyo3(signature = (
        state, host, kind, *, project = "project", stack = "dev", dry_run = false, parallel = 16,
        config = None, directory = None, update_changed_providers = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments of a Python constructor")]
    fn new(
        py: Python<'_>,
        state: &MemoryState,
        host: Py<PyAny>,
        kind: &str,
        project: &str,
        stack: &str,
        dry_run: bool,
        parallel: usize,
        config: Option<BTreeMap<String, (String, bool)>>,
        directory: Option<PathBuf>,
        update_changed_providers: bool,
    ) -> PyResult<Self> {
        let kind = match kind {
            "update" => OperationKind::Update,
            "refresh" => OperationKind::Refresh,
            "destroy" => OperationKind::Destroy,
            other => return Err(PyValueError::new_err(format!("'{other}' is not update, refresh or destroy"))),
        };
        let host = PythonHost::new(py, host)?;
        host.bridge().call_method1(py, "attach_pool", (Bound::new(py, crate::Pool::new(&host))?,))?;
        let mut operation = Operation::new(kind, project, stack);
        operation.dry_run = dry_run;
        operation.parallel = parallel;
        operation.update_changed_providers = update_changed_providers;
        let config = config.unwrap_or_default().into_iter();
        operation.config =
            Arc::new(config.map(|(key, (value, secret))| (key, ConfigValue { value, secret })).collect());
        let directory = directory.unwrap_or_default();
        operation.project_root.clone_from(&directory);
        operation.program_directory = directory;
        let record = Arc::new(Recorder(Mutex::default()));
        let engine = py.detach(|| {
            let session = Session::read_only(lock(&state.snapshot).clone());
            let host = Arc::clone(&host) as Arc<dyn Host>;
            maloko_core::Engine::start(operation, session, host, Arc::clone(&record) as Arc<dyn EventSink>)
        });
        host.bind(&engine);
        Ok(Self { engine, host, record, snapshot: Arc::clone(&state.snapshot) })
    }

    /// The engine, for the program.
    #[getter]
    fn engine(&self) -> Engine {
        Engine::new(Arc::clone(&self.engine), Arc::clone(&self.host))
    }

    /// Ends the operation once the program has ended; `error` and `exception` say how it failed. Gives the outcome
    /// (`succeeded`, `failed`, `cancelled`), the counts by op, the first error and the exception behind it.
    #[pyo3(signature = (error = None, exception = None))]
    fn finish(&self, py: Python<'_>, error: Option<String>, exception: Option<Py<PyAny>>) -> PyResult<Finished> {
        let end = ProgramEnd { error, source: exception.map(host_error) };
        let report = py
            .detach(|| block_on(self.engine.finish(end)))
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        if !report.summary.is_preview {
            *lock(&self.snapshot) = self.engine.snapshot();
        }
        let outcome = match report.summary.outcome {
            Outcome::Succeeded => "succeeded",
            Outcome::Failed => "failed",
            Outcome::Cancelled => "cancelled",
        };
        let exception = report.source.as_ref().and_then(|source| exception_of(py, source));
        Ok((outcome, report.summary.changes, report.error, exception))
    }

    /// Steps that were done, as op and URN, in order.
    #[getter]
    fn steps(&self) -> Vec<(String, String)> {
        lock(&self.record.0).steps.clone()
    }

    /// Messages as severity, URN and text, in order.
    #[getter]
    fn diagnostics(&self) -> Vec<(String, String, String)> {
        lock(&self.record.0).diagnostics.clone()
    }
}
