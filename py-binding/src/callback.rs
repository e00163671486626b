//! Calls into Python that answer at once or later.
//!
//! Every call hands a [`Completion`] over. The Python side either returns the answer, or `None` and completes later
//! from any thread (an `async def` method, a callback on the program's event loop). A completion that is dropped
//! unused counts as a failed call, so that nothing waits for ever.

use std::sync::Mutex;

use futures::channel::oneshot;
use maloko_core::provider::{ProviderError, ProviderErrorKind};
use pyo3::prelude::*;

use crate::error::internal_error;
use crate::runtime::lock;

/// Takes the answer of a call that could not answer at once.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct Completion {
    answer: Mutex<Option<oneshot::Sender<Py<PyAny>>>>,
}

#[pymethods]
impl Completion {
    /// Delivers the answer. The first one counts.
    fn __call__(&self, answer: Py<PyAny>) {
        if let Some(sender) = lock(&self.answer).take() {
            // The engine may have given up on the call; then nobody needs the answer.
            let _ = sender.send(answer);
        }
    }
}

/// Calls Python and awaits the answer, which `read` turns into a result.
pub(crate) async fn call_python<T>(
    start: impl FnOnce(Python<'_>, Bound<'_, Completion>) -> PyResult<Option<Py<PyAny>>> + Send,
    read: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> Result<T, ProviderError> + Send,
) -> Result<T, ProviderError> {
    let (sender, receiver) = oneshot::channel();
    let started = Python::try_attach(|py| {
        let completion = Bound::new(py, Completion { answer: Mutex::new(Some(sender)) })
            .map_err(|error| internal_error(py, &error))?;
        start(py, completion).map_err(|error| internal_error(py, &error))
    });
    let answer = match started {
        None => return Err(shutting_down()),
        Some(Err(error)) => return Err(error),
        Some(Ok(Some(answer))) => answer,
        Some(Ok(None)) => receiver.await.map_err(|_| {
            ProviderError::new(
                ProviderErrorKind::Raised,
                "the call was dropped before it answered; its event loop ended",
            )
        })?,
    };
    Python::try_attach(|py| read(py, answer.bind(py))).unwrap_or_else(|| Err(shutting_down()))
}

fn shutting_down() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the Python interpreter is shutting down")
}
