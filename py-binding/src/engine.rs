//! The engine as the Python package sees it: requests and answers in protobuf bytes.

use std::io::Write;
use std::sync::{Arc, Mutex};

use maloko_core::ProgramEngine;
use maloko_core::driver::{Notice, RpcError};
use maloko_core::event::Severity;
use maloko_core::urn::Urn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::provider::PythonHost;
use crate::runtime::{block_on, lock, without_panic};

/// One operation on one stack, for the monitor and engine objects that the SDK is given.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct Engine {
    inner: Arc<dyn ProgramEngine>,
    host: Arc<PythonHost>,
    /// The process that runs it; a copy that is forked off has none of its threads.
    process: u32,
}

type Answer = Result<Vec<u8>, RpcError>;

/// What became of a request that was begun: whoever comes second, the answer or the one who asks, takes it.
enum Slot {
    Open,
    Answered(Answer),
    Awaited(Py<PyAny>),
}

fn answer_to_python(py: Python<'_>, answer: Answer) -> PyResult<Bound<'_, PyAny>> {
    match answer {
        Ok(bytes) => Ok(PyBytes::new(py, &bytes).into_any()),
        Err(error) => Ok((error.code, error.message).into_pyobject(py)?.into_any()),
    }
}

fn panicked() -> RpcError {
    RpcError {
        code: 13,
        message: "the engine failed on this request; this is a fault of maloko, please report it".to_owned(),
    }
}

impl Engine {
    pub(crate) fn new(engine: Arc<dyn ProgramEngine>, host: Arc<PythonHost>) -> Self {
        Self { inner: engine, host, process: std::process::id() }
    }

    /// The refusal of what a forked copy of the process asks for.
    fn of_a_copy(&self) -> Option<RpcError> {
        let copy = std::process::id();
        (copy != self.process).then(|| RpcError {
            code: FAILED_PRECONDITION,
            message: format!(
                "process {copy} was forked off the run of process {}, and only that one has the engine: a forked copy cannot \
                 register resources. Start processes with subprocess, or with multiprocessing and a function that makes none",
                self.process
            ),
        })
    }
}

/// The gRPC status of a request that this process must not make.
const FAILED_PRECONDITION: i32 = 9;

#[pymethods]
impl Engine {
    /// Sends a request and blocks this thread until it is answered. The answer is bytes, or a gRPC status code with
    /// a message.
    #[pyo3(signature = (method: "str", request: "bytes") -> "bytes | tuple[int, str]")]
    fn rpc<'py>(&self, py: Python<'py>, method: &str, request: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        if let Some(refusal) = self.of_a_copy() {
            return answer_to_python(py, Err(refusal));
        }
        let answer = py.detach(|| block_on(without_panic(self.inner.rpc(method, request))));
        answer_to_python(py, answer.unwrap_or_else(|| Err(panicked())))
    }

    /// Sends a request from the program's event loop, which it never blocks. The answer is returned as `rpc` does, or
    /// `None` when it takes longer; then `complete` is called with it, from another thread.
    #[pyo3(signature = (
        method: "str", request: "bytes", context: "object",
        complete: "object"
    ) -> "bytes | tuple[int, str] | None")]
    fn begin<'py>(
        &self,
        py: Python<'py>,
        method: String,
        request: Vec<u8>,
        context: Py<PyAny>,
        complete: Py<PyAny>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if let Some(refusal) = self.of_a_copy() {
            return answer_to_python(py, Err(refusal)).map(Some);
        }
        let slot = Arc::new(Mutex::new(Slot::Open));
        let answered = Arc::clone(&slot);
        let engine = Arc::clone(&self.inner);
        self.host.pool().keep_one(py)?;
        py.detach(|| {
            self.host.pool().begin_on_event_loop(
                Some(context),
                Box::pin(async move {
                    let answer = without_panic(engine.rpc(&method, &request)).await.unwrap_or_else(|| Err(panicked()));
                    let mut slot = lock(&answered);
                    match std::mem::replace(&mut *slot, Slot::Open) {
                        Slot::Awaited(complete) => {
                            drop(slot);
                            // An interpreter that shuts down has no program that waits for the answer.
                            Python::try_attach(|py| {
                                let delivered =
                                    answer_to_python(py, answer).and_then(|answer| complete.call1(py, (answer,)));
                                if let Err(error) = delivered {
                                    error.write_unraisable(py, None);
                                }
                            });
                        }
                        _ => *slot = Slot::Answered(answer),
                    }
                }),
            );
        });
        let mut slot = lock(&slot);
        if let Slot::Answered(answer) = std::mem::replace(&mut *slot, Slot::Awaited(complete)) {
            return answer_to_python(py, answer).map(Some);
        }
        Ok(None)
    }

    /// Has what `begin` began go on. Called when the program's event loop has nothing else to do.
    fn go_on(&self) {
        self.host.pool().go_on();
    }

    /// Passes a message on; severities are those of the engine service (0 debug, 1 info, 2 warning, 3 error), and 4
    /// for printed output.
    #[pyo3(signature = (urn, severity, message, ephemeral = false))]
    fn log(&self, py: Python<'_>, urn: &str, severity: u8, message: &str, ephemeral: bool) {
        let severity = match severity {
            0 => Severity::Debug,
            1 => Severity::Info,
            2 => Severity::Warning,
            4 => Severity::Output,
            _ => Severity::Error,
        };
        if self.of_a_copy().is_some() {
            // What shows messages is a thread of the run's own process; its stderr is ours too.
            let _ = writeln!(std::io::stderr(), "{message}");
            return;
        }
        py.detach(|| self.inner.log(urn, severity, message, ephemeral));
    }

    /// Takes note of outputs that a provider returned for the first resource of a class, and the class does not declare.
    #[pyo3(signature = (urn, class_name, outputs: "list[str]"))]
    fn note_undeclared(&self, urn: &str, class_name: String, outputs: Vec<String>) {
        let how = "pass it to super().__init__ as None, and annotate it in the class";
        self.inner.note(Notice::Undeclared { urn: Urn::unchecked(urn), class: class_name, outputs, how: how.into() });
    }

    /// Takes note that the code of a create asked for its operation key.
    fn note_used_key(&self, urn: &str) {
        if self.of_a_copy().is_none() {
            self.inner.note(Notice::UsedKey(Urn::unchecked(urn)));
        }
    }

    /// Keeps a resource from being deleted for the only reason that this run did not register it; the run fails with
    /// that reason if it would be.
    #[pyo3(signature = (urn, reason))]
    fn refuse_deletion(&self, urn: &str, reason: String) {
        self.inner.refuse_deletion(urn, reason);
    }

    /// Calls `notify` from another thread once the run cannot go on.
    #[pyo3(signature = (notify: "object"))]
    fn when_stopped(&self, notify: Py<PyAny>) {
        let engine = Arc::clone(&self.inner);
        self.host.pool().spawn(Box::pin(async move {
            engine.stopped().await;
            Python::try_attach(|py| {
                if let Err(error) = notify.call0(py) {
                    error.write_unraisable(py, None);
                }
            });
        }));
    }

    /// The project's name.
    #[getter]
    fn project(&self) -> &str {
        &self.inner.operation().project
    }

    /// The stack's short name.
    #[getter]
    fn stack(&self) -> &str {
        &self.inner.operation().stack
    }

    /// The organization's name.
    #[getter]
    fn organization(&self) -> &str {
        &self.inner.operation().organization
    }

    /// The directory of Pulumi.yaml.
    #[getter]
    fn project_root(&self) -> String {
        self.inner.operation().project_root.to_string_lossy().into_owned()
    }

    /// Is it a preview?
    #[getter]
    fn dry_run(&self) -> bool {
        self.inner.operation().dry_run
    }

    /// Provider operations at a time.
    #[getter]
    fn parallel(&self) -> usize {
        self.inner.operation().parallel
    }

    /// The configuration by full key, decrypted, and the keys that are secret.
    #[pyo3(signature = () -> "tuple[dict[str, str], list[str]]")]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let config = &self.inner.operation().config;
        let values = PyDict::new(py);
        for (key, value) in config.iter() {
            values.set_item(key, &value.value)?;
        }
        let secret: Vec<&String> = config.iter().filter(|(_, value)| value.secret).map(|(key, _)| key).collect();
        (values, secret).into_pyobject(py)
    }
}
