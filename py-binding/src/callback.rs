//! Calls into Python that answer at once or later.
//!
//! Every call hands a [`Completion`] over. The Python side either returns the answer, or `None` and completes later
//! from any thread (an `async def` method, a callback on the program's event loop). A completion that is dropped
//! unused counts as a failed call, so that nothing waits for ever.

use std::sync::{Arc, Mutex, Weak};

use futures::channel::oneshot;
use maloko_core::provider::{ProviderError, ProviderErrorKind};
use pyo3::prelude::*;

use crate::error::internal_error;
use crate::runtime::lock;

/// Takes the answer of a call that could not answer at once.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct Completion {
    answer: Mutex<Option<oneshot::Sender<Py<PyAny>>>>,
    on_abandon: Weak<Mutex<Option<Py<PyAny>>>>,
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

    /// Takes what is to be called when nobody waits for the answer any more.
    fn on_abandon(&self, callback: Py<PyAny>) {
        if let Some(cell) = self.on_abandon.upgrade() {
            *lock(&cell) = Some(callback);
        }
    }
}

/// Held while an answer is awaited; one that is dropped before it was answered says that nobody waits any more.
#[derive(Default)]
struct AbandonGuard(Arc<Mutex<Option<Py<PyAny>>>>);

impl AbandonGuard {
    fn answered(&self) {
        drop(lock(&self.0).take());
    }
}

impl Drop for AbandonGuard {
    fn drop(&mut self) {
        let Some(callback) = lock(&self.0).take() else { return };
        // While the interpreter shuts down there is nothing to be cancelled.
        let _ = Python::try_attach(|py| {
            if let Err(error) = callback.call0(py) {
                error.write_unraisable(py, None);
            }
        });
    }
}

/// How far a call has come when Python returns from it.
enum CallProgress<T, Read> {
    Answered(Result<T, ProviderError>),
    Awaits(AbandonGuard, Read),
}

/// Calls Python and awaits the answer, which `read` turns into a result.
pub(crate) async fn call_python<T>(
    start: impl FnOnce(Python<'_>, Bound<'_, Completion>) -> PyResult<Option<Py<PyAny>>> + Send,
    read: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> Result<T, ProviderError> + Send,
) -> Result<T, ProviderError> {
    let (sender, receiver) = oneshot::channel();
    let started = Python::try_attach(|py| {
        let guard = AbandonGuard::default();
        let completion = Completion { answer: Mutex::new(Some(sender)), on_abandon: Arc::downgrade(&guard.0) };
        let completion = Bound::new(py, completion).map_err(|error| internal_error(py, &error))?;
        let answer = start(py, completion).map_err(|error| internal_error(py, &error))?;
        Ok(match answer {
            // Read at once: to be attached a second time may take a wait for other threads.
            Some(answer) => CallProgress::Answered(read(py, answer.bind(py))),
            None => CallProgress::Awaits(guard, read),
        })
    });
    let (guard, read) = match started {
        None => return Err(shutting_down()),
        Some(Err(error)) => return Err(error),
        Some(Ok(CallProgress::Answered(answer))) => return answer,
        Some(Ok(CallProgress::Awaits(guard, read))) => (guard, read),
    };
    let answer = receiver.await.map_err(|_| {
        // What it has done until then is not known.
        ProviderError::new(
            ProviderErrorKind::BadReturn,
            "the call was dropped before it answered; its event loop ended",
        )
    });
    guard.answered();
    let answer = answer?;
    Python::try_attach(|py| read(py, answer.bind(py))).unwrap_or_else(|| Err(shutting_down()))
}

fn shutting_down() -> ProviderError {
    ProviderError::new(ProviderErrorKind::Cancelled, "the Python interpreter is shutting down")
}
