//! Operations on stacks in memory, for tests: `maloko-kit` with Python's host. Orders and reports are JSON; the Python
//! half (`maloko.testing`) makes objects of them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use maloko_cli::RunForTests;
use maloko_core::ProgramEnd;
use maloko_core::ProgramEngine;
use maloko_core::error::Error;
use maloko_core::provider::ProviderHost;
use maloko_kit::RunRequest;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::convert::{Reader, ReturnedValueError, Style, properties_to_python};
use crate::engine::Engine;
use crate::error::{exception_of, host_error, maloko_error};
use crate::provider::PythonHost;
use crate::runtime::block_on;

fn failed(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A stack in memory.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct TestStack {
    inner: maloko_kit::TestStack,
}

#[pymethods]
impl TestStack {
    /// An empty stack. Raises `ValueError` for names that no stack can have.
    #[new]
    #[pyo3(signature = (project = "project", stack = "dev"))]
    fn new(py: Python<'_>, project: &str, stack: &str) -> PyResult<Self> {
        let made = py.detach(|| block_on(maloko_kit::TestStack::new(project, stack)));
        made.map(|inner| Self { inner }).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// A stack in a directory, which outlives the process; made when it is not there yet. Raises `RuntimeError` for a
    /// directory that cannot be used.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]
    fn open(py: Python<'_>, directory: PathBuf, project: &str, stack: &str) -> PyResult<Self> {
        let opened = py.detach(|| block_on(maloko_kit::TestStack::open(&directory, project, stack)));
        opened.map(|inner| Self { inner }).map_err(failed)
    }

    /// The state as Pulumi's deployment JSON, with secrets in plain text.
    fn export(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| block_on(self.inner.export())).map_err(failed)
    }

    /// Replaces the state by an exported one (JSON); `place` names it in errors.
    fn restore(&self, py: Python<'_>, deployment: &[u8], place: &str) -> PyResult<()> {
        py.detach(|| block_on(self.inner.import(deployment, place))).map_err(failed)
    }

    /// What is in the state as JSON, with secrets in plain text: `{"resources": [...], "unresolvedCreates": [...]}`, where an
    /// unresolved create is `{"urn", "reason"}`.
    fn resources(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| block_on(self.inner.resources())).map(|resources| resources.to_string()).map_err(failed)
    }

    /// What a resource was in the course of the test as JSON: `{"ids", "actions", "outputs"}`.
    fn history(&self, name: &str) -> String {
        self.inner.history(name).to_string()
    }

    /// Answers what a law or a lifecycle asks of the stack (JSON, `engine-kit/src/stack/requests.rs`) with JSON. Raises
    /// `RuntimeError` for what cannot be read, and for a state that cannot be read or written.
    fn answer(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        py.detach(|| block_on(self.inner.answer(request))).map(|answer| answer.to_string()).map_err(failed)
    }

    /// Begins a task (JSON, `engine-kit/src/task`). Raises `ValueError` for one that cannot be read.
    fn task(&self, task: &str) -> PyResult<StackTask> {
        let inner = maloko_kit::StackTask::new(self.inner.clone(), task).map_err(refused)?;
        Ok(StackTask { inner: std::sync::Mutex::new(inner) })
    }

    /// What lies in the store: the checkpoint, and the journal that a run left which did not come to its end.
    #[pyo3(signature = () -> "tuple[bytes, bytes | None]")]
    fn stored<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>) {
        let (checkpoint, journal) = self.inner.stored();
        (PyBytes::new(py, &checkpoint), journal.map(|journal| PyBytes::new(py, &journal)))
    }

    /// Lets the stack's clock go on by so many seconds.
    fn advance(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        let by = Duration::try_from_secs_f64(seconds).map_err(|error| PyValueError::new_err(error.to_string()))?;
        py.detach(|| self.inner.clock().advance(by));
        Ok(())
    }

    /// The seconds that have passed on the stack's clock.
    #[getter]
    fn elapsed(&self) -> f64 {
        maloko_core::environment::Clock::elapsed(self.inner.clock()).as_secs_f64()
    }

    /// Begins an operation. `host` is a `maloko._run.host.Host`, `order` JSON (`engine-kit/src/run_request.rs`). Raises
    /// `ValueError` for an order that cannot be understood, `MalokoError` for one that makes no sense, and `RuntimeError` for a
    /// state that cannot be opened.
    fn begin(&self, py: Python<'_>, host: Py<PyAny>, order: &str) -> PyResult<TestRun> {
        let order: RunRequest =
            serde_json::from_str(order).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let host = PythonHost::new(py, host)?;
        host.bridge().call_method1(py, "attach_pool", (Bound::new(py, crate::Pool::new(&host))?,))?;
        let asked: Arc<dyn ProviderHost> = Arc::clone(&host) as _;
        let run = py.detach(|| block_on(RunForTests::begin(&self.inner, &order, asked)));
        let run = run.map_err(|error| match error {
            Error::Configuration(_) => maloko_error(py, &error),
            error => failed(error),
        })?;
        let engine: Arc<dyn ProgramEngine> = Arc::clone(run.engine()) as _;
        host.bind(&engine);
        Ok(TestRun { run, host })
    }
}

/// What a test has its stack do in several operations: it says what the kit is to run, and takes the answers.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct StackTask {
    inner: std::sync::Mutex<maloko_kit::StackTask>,
}

#[pymethods]
impl StackTask {
    /// What is to be done next (JSON, `maloko_kit::TaskRequest`), after the answer to what was to be done before; at first, that
    /// is `null`. Raises `RuntimeError` for an answer that is none, and for a state that cannot be read or written.
    fn next(&self, py: Python<'_>, answer: &str) -> PyResult<String> {
        let answer = read(answer)?;
        py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let request = block_on(inner.next(answer)).map_err(failed)?;
            serde_json::to_string(&request).map_err(failed)
        })
    }
}

/// One operation on a stack in memory.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct TestRun {
    run: RunForTests,
    host: Arc<PythonHost>,
}

#[pymethods]
impl TestRun {
    /// The engine, for the program.
    #[getter]
    fn engine(&self) -> Engine {
        Engine::new(Arc::clone(self.run.engine()) as Arc<dyn ProgramEngine>, Arc::clone(&self.host))
    }

    /// Ends the operation as Ctrl-C does: nothing new is begun.
    fn cancel(&self, py: Python<'_>) {
        py.detach(|| self.run.engine().cancel());
    }

    /// Ends the operation once the program has ended; `error` and `exception` say how it failed. Gives the report as
    /// JSON (`engine-kit/src/report.rs`), and the exception that was raised first.
    #[pyo3(signature = (error = None, exception = None) -> "tuple[str, BaseException | None]")]
    fn finish(
        &self,
        py: Python<'_>,
        error: Option<String>,
        exception: Option<Py<PyAny>>,
    ) -> PyResult<(String, Option<Py<PyAny>>)> {
        let end = ProgramEnd { error, source: exception.map(host_error) };
        let (report, text) = py.detach(|| {
            let report = block_on(self.run.finish(end)).map_err(failed)?;
            let text = serde_json::to_string(&*report).map_err(failed)?;
            PyResult::Ok((report, text))
        })?;
        Ok((text, report.source.as_ref().and_then(|source| exception_of(py, source))))
    }
}

/// Properties as they come back from the engine, in a provider's method, when they go in like that. Raises `ValueError`
/// for what the engine refuses; `what` names the properties in it.
#[pyfunction]
#[pyo3(signature = (properties: "object", what: "str") -> "dict[str, Any]")]
pub(crate) fn converted<'py>(
    py: Python<'py>,
    properties: &Bound<'py, PyAny>,
    what: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let read = Reader::new(what, true, &mut Vec::new()).properties(properties);
    let properties = read.map_err(|ReturnedValueError(reason)| PyValueError::new_err(reason))?;
    properties_to_python(py, &properties, Style::default())
}

/// The page (HTML) of what was recorded of a run: `page` of a report, and of what `LibraryRun.run` gives. Raises `ValueError`
/// for what is no record.
#[pyfunction]
pub(crate) fn page_of_record(py: Python<'_>, record: &str) -> PyResult<String> {
    let page = py.detach(|| maloko_cli::page_of_record(record));
    page.ok_or_else(|| PyValueError::new_err("what was recorded of the run cannot be read"))
}

/// The result of a law (JSON, `maloko_kit::LawResult`) in words.
#[pyfunction]
pub(crate) fn law_text(law: &str, title: &str, provider: &str, result: &str) -> PyResult<String> {
    let result: maloko_kit::LawResult =
        serde_json::from_str(result).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(maloko_kit::law_result_text(law, title, provider, &result))
}

/// Answers a question of the kit (JSON, `maloko_kit::answer`) with JSON. Raises `ValueError` for one that cannot be read.
#[pyfunction]
pub(crate) fn kit_answer(question: &str) -> PyResult<String> {
    maloko_kit::answer(question).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// One example of a law: it says what the kit is to do, and takes the answer.
#[pyclass]
pub(crate) struct LawTrial {
    inner: std::sync::Mutex<maloko_kit::LawTrial>,
}

#[pymethods]
impl LawTrial {
    /// Begins an example of a law (`L5`). `subject` is what is known of the provider (JSON, `maloko_kit::Subject`). Raises
    /// `ValueError` for a law that it does not know.
    #[new]
    fn new(law: &str, subject: &str) -> PyResult<Self> {
        let subject = serde_json::from_str(subject).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let inner =
            maloko_kit::LawTrial::new(law, subject).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { inner: std::sync::Mutex::new(inner) })
    }

    /// What is to be done next (JSON, `maloko_kit::Request`), after the answer to what was to be done before; at first,
    /// that is `null`. Raises `ValueError` for an answer that is none.
    fn next(&self, answer: &str) -> PyResult<String> {
        let answer = serde_json::from_str(answer).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let mut inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let request = inner.next(answer).map_err(|error| PyValueError::new_err(error.to_string()))?;
        serde_json::to_string(&request).map_err(failed)
    }

    /// The inputs that the example has tried last, for a report (JSON, a list of `maloko_kit::ShownInputs`).
    fn shown(&self) -> PyResult<String> {
        let inner = self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        serde_json::to_string(&inner.shown()).map_err(failed)
    }

    /// A text, such as the message of an error, without what is secret.
    fn hide(&self, text: &str) -> String {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner).hide(text)
    }
}

/// A lifecycle of a provider: it says what the kit is to do for a step, and takes the answers.
#[pyclass]
pub(crate) struct LifeTrial {
    inner: std::sync::Mutex<maloko_kit::LifeTrial>,
}

impl LifeTrial {
    fn inner(&self) -> std::sync::MutexGuard<'_, maloko_kit::LifeTrial> {
        self.inner.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[pymethods]
impl LifeTrial {
    /// Begins with an empty program. `subject` is what is known of the provider (JSON, `maloko_kit::LifeSubject`). Raises
    /// `ValueError` for rules that cannot be left out.
    #[new]
    fn new(subject: &str) -> PyResult<Self> {
        let inner = maloko_kit::LifeTrial::new(read(subject)?).map_err(refused)?;
        Ok(Self { inner: std::sync::Mutex::new(inner) })
    }

    /// The rules that can be followed just now, each with the names of the resources that it can be about (JSON).
    fn possible(&self) -> PyResult<String> {
        serde_json::to_string(&self.inner().possible()).map_err(failed)
    }

    /// Why this cannot be the next step (JSON, as in a story), in words; `None` when it can. `story` says how steps are written
    /// (JSON, `maloko_kit::Story`).
    fn refusal(&self, step: &str, story: &str) -> PyResult<Option<String>> {
        Ok(self.inner().refusal(&read::<Vec<serde_json::Value>>(step)?, &read(story)?))
    }

    /// Inputs (JSON) without what is secret, as a step is to be written with them.
    fn hide_inputs(&self, inputs: &str) -> PyResult<String> {
        Ok(self.inner().hide_inputs(&read(inputs)?).to_string())
    }

    /// A text, such as the message of an error, without what is secret in the steps so far.
    fn hide(&self, text: &str) -> String {
        self.inner().hide(text)
    }

    /// Begins a step. Raises `ValueError` for one that cannot be the next.
    fn take(&self, step: &str) -> PyResult<()> {
        self.inner().take(&read::<Vec<serde_json::Value>>(step)?).map_err(refused)
    }

    /// Begins the end. Raises `ValueError` while a step goes on.
    fn end(&self) -> PyResult<()> {
        self.inner().end().map_err(refused)
    }

    /// What is to be done next (JSON, `maloko_kit::LifeRequest`), after the answer to what was to be done before; at first, that
    /// is `null`. Raises `ValueError` for an answer that is none.
    fn next(&self, answer: &str) -> PyResult<String> {
        let request = self.inner().next(read(answer)?).map_err(refused)?;
        serde_json::to_string(&request).map_err(failed)
    }

    /// The steps so far as a test.
    fn story(&self, story: &str) -> PyResult<String> {
        Ok(self.inner().story(&read(story)?))
    }

    /// What went wrong (JSON, `maloko_kit::Words`), with the steps as a test. `again`: what runs it again, or nothing.
    fn broken_text(&self, words: &str, story: &str, again: &str) -> PyResult<String> {
        Ok(self.inner().broken_text(&read(words)?, &read(story)?, again))
    }
}

fn read<T: serde::de::DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(refused)
}

fn refused(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}
