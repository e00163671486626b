//! Errors on their way across the border.

use std::sync::Arc;

use maloko_core::provider::{HostError, ProviderError, ProviderErrorKind};
use pyo3::prelude::*;
use pyo3::types::PyTracebackMethods;

/// An exception as the engine keeps it, to be raised again as the same object.
pub(crate) fn host_error(exception: Py<PyAny>) -> HostError {
    Arc::new(exception)
}

/// The exception in an engine's error, if it is one of ours.
pub(crate) fn exception_of(py: Python<'_>, error: &HostError) -> Option<Py<PyAny>> {
    error.downcast_ref::<Py<PyAny>>().map(|exception| exception.clone_ref(py))
}

/// A fault of the binding itself (user code's exceptions are caught on the Python side, where they are formatted).
pub(crate) fn internal_error(py: Python<'_>, error: &PyErr) -> ProviderError {
    let traceback = error.traceback(py).and_then(|traceback| traceback.format().ok()).unwrap_or_default();
    ProviderError {
        kind: ProviderErrorKind::Raised,
        message: format!("maloko could not make the call: {error}").into(),
        traceback,
        source: Some(host_error(error.value(py).clone().into_any().unbind())),
        transience: None,
    }
}

/// `maloko.MalokoError` with what is wrong. It is a class of the Python half.
pub(crate) fn maloko_error(py: Python<'_>, fault: &impl std::fmt::Display) -> PyErr {
    let raise = || py.import("maloko._errors")?.getattr("MalokoError")?.call1((fault.to_string(),));
    raise().map_or_else(|error| error, PyErr::from_value)
}
