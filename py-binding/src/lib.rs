//! The native half of the Python package `maloko`. The package `maloko` is the public face; this module is private.

mod answer;
mod automation;
mod callback;
mod convert;
mod description;
mod engine;
mod error;
mod fleet;
mod kit;
mod language_host;
mod page;
mod plugin_laws;
mod pool;
mod provider;
mod runtime;

use std::sync::Arc;

use pyo3::prelude::*;

use crate::provider::PythonHost;

/// A run allocates from many threads at once and in small pieces; docs/explanation/architecture.md has why it is this one.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The threads of a run, for those who start them.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct Pool {
    host: Arc<PythonHost>,
}

impl Pool {
    fn new(host: &Arc<PythonHost>) -> Self {
        Self { host: Arc::clone(host) }
    }
}

#[pymethods]
impl Pool {
    /// Polls the engine's tasks on this thread until the pool is closed.
    fn work(&self, py: Python<'_>) {
        py.detach(|| self.host.pool().work());
    }

    /// Lets the workers go once nothing is left to do.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.host.pool().close());
    }
}

fn reader(debugger: bool) -> maloko_cli::terminal::Reader {
    if debugger { maloko_cli::terminal::Reader::Debugger } else { maloko_cli::terminal::Reader::Prompt }
}

#[pymodule]
mod _maloko {
    use std::ffi::OsString;

    use pyo3::prelude::*;

    #[pymodule_export]
    use super::Pool;
    #[pymodule_export]
    use super::answer::{
        CallFailure, Cause, CheckAnswer, CreateAnswer, DiffAnswer, EmptyAnswer, PartialCallFailure, ReadAnswer,
        RejectedInput, SerializedObject, UnusableAnswer, UpdateAnswer,
    };
    #[pymodule_export]
    use super::automation::LibraryRun;
    #[pymodule_export]
    use super::callback::Completion;
    #[pymodule_export]
    use super::engine::Engine;
    #[pymodule_export]
    use super::fleet::{fleet_place, fleet_plan, fleet_text};
    #[pymodule_export]
    use super::kit::{
        LawTrial, LifeTrial, StackTask, TestRun, TestStack, converted, kit_answer, law_text, page_of_record,
    };
    #[pymodule_export]
    use super::page::fleet_page;
    #[pymodule_export]
    use super::plugin_laws::{PluginLife, PluginTrial, PluginUnderTest};

    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Refuses sub-interpreters with an `ImportError`: objects of one would be called in another.
    #[pyfunction]
    #[expect(unsafe_code, reason = "PyO3 has no safe way to ask which interpreter this is")]
    fn require_main_interpreter(_py: Python<'_>) -> PyResult<()> {
        // SAFETY: whoever has `Python<'_>` is attached to an interpreter, which has an id since it was made.
        let interpreter = unsafe { pyo3::ffi::PyInterpreterState_GetID(pyo3::ffi::PyInterpreterState_Get()) };
        if interpreter == 0 {
            return Ok(());
        }
        Err(pyo3::exceptions::PyImportError::new_err(
            "maloko works in the main interpreter only, and not in subinterpreters: use threads or processes",
        ))
    }

    /// Runs the command line with these arguments (without the program's name) and returns its exit code.
    #[pyfunction]
    #[pyo3(signature = (
        arguments: "list[str]", language_host: "object", host: "object"
    ) -> "int")]
    fn cli_main(py: Python<'_>, arguments: Vec<OsString>, language_host: Py<PyAny>, host: Py<PyAny>) -> PyResult<i32> {
        super::language_host::cli_main(py, arguments, language_host, host)
    }

    /// Can the terminal be borrowed: does an operation of this process have one?
    #[pyfunction]
    fn lends_terminal() -> bool {
        maloko_cli::terminal::is_to_be_had()
    }

    /// Gives the terminal to the program, with descriptors 1 and 2, until it is given back; the display stands back. While
    /// a debugger has it, Ctrl-C is the debugger's. `False`: there is none to be had.
    #[pyfunction]
    fn borrow_terminal(py: Python<'_>, debugger: bool) -> bool {
        py.detach(|| maloko_cli::terminal::borrow(super::reader(debugger)))
    }

    /// Ends what `borrow_terminal` began.
    #[pyfunction]
    fn give_back_terminal(py: Python<'_>, debugger: bool) {
        py.detach(|| maloko_cli::terminal::give_back(super::reader(debugger)));
    }
}
