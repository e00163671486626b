//! Plugins under the laws of providers and in lifecycles, for `maloko.testing`: everything but a world is done in Rust.

use std::path::PathBuf;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::runtime::block_on;

fn refused(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A plugin that is judged.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct PluginUnderTest {
    inner: maloko_kit::PluginUnderTest,
}

#[pymethods]
impl PluginUnderTest {
    /// A plugin by the name of its package, its executable or its folder; empty: of the type's package. `setup` is JSON
    /// (`maloko_kit::PluginSetup`). Nothing is started yet. Raises `ValueError` for what is no plugin or no type.
    #[new]
    #[expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned")]
    fn new(directory: PathBuf, plugin: &str, setup: &str) -> PyResult<Self> {
        let setup = serde_json::from_str(setup).map_err(refused)?;
        let inner = maloko_cli::plugin_under_test(&directory, plugin, setup).map_err(refused)?;
        Ok(Self { inner })
    }

    /// Starts and configures it. Raises `RuntimeError` when that fails.
    fn prepare(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| block_on(self.inner.prepare())).map_err(PyRuntimeError::new_err)
    }

    /// Begins an example of a law (`L5`). `subject` is what is known of the plugin (JSON, `maloko_kit::Subject`). Raises
    /// `ValueError` for a law that it does not know.
    fn trial(&self, law: &str, subject: &str) -> PyResult<PluginTrial> {
        let subject = serde_json::from_str(subject).map_err(refused)?;
        let inner = maloko_kit::PluginTrial::new(law, subject, &self.inner).map_err(refused)?;
        Ok(PluginTrial { inner })
    }

    /// Begins a lifecycle of its resources, with an empty stack.
    fn life(&self) -> PluginLife {
        PluginLife { inner: maloko_kit::PluginLife::new(&self.inner) }
    }

    /// Ends its process.
    fn close(&self, py: Python<'_>) {
        py.detach(|| block_on(self.inner.close()));
    }
}

/// One example of a law for a plugin: it asks for the world alone.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct PluginTrial {
    inner: maloko_kit::PluginTrial,
}

#[pymethods]
impl PluginTrial {
    /// What is to be done next (JSON, `maloko_kit::PluginTrial::next`), after the answer to what was to be done before; at
    /// first, that is `null`. Raises `ValueError` for an answer that is none.
    fn next(&self, py: Python<'_>, answer: &str) -> PyResult<String> {
        let answer = serde_json::from_str(answer).map_err(refused)?;
        let request = py.detach(|| block_on(self.inner.next(answer))).map_err(refused)?;
        Ok(request.to_string())
    }
}

/// A lifecycle of a plugin's resources: it does what steps ask for, apart from what they ask of the world.
#[pyclass(frozen, module = "maloko._maloko")]
pub(crate) struct PluginLife {
    inner: maloko_kit::PluginLife,
}

#[pymethods]
impl PluginLife {
    /// Does what a step asks for (JSON, `maloko_kit::PluginLife::answer`), and gives the answer to it. Raises `ValueError` for a
    /// request that is none.
    fn answer(&self, py: Python<'_>, request: &str) -> PyResult<String> {
        let request = serde_json::from_str(request).map_err(refused)?;
        let answer = py.detach(|| block_on(self.inner.answer(request))).map_err(refused)?;
        Ok(answer.to_string())
    }

    /// Deletes what is left, and ends the processes that it has started.
    fn close(&self, py: Python<'_>) {
        py.detach(|| block_on(self.inner.close()));
    }
}
