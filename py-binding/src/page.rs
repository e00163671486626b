//! Pages that are made for the package itself.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The page (HTML) of a fleet's run, from its document (JSON). Raises `ValueError` for what is none.
#[pyfunction]
pub(crate) fn fleet_page(py: Python<'_>, document: &str) -> PyResult<String> {
    py.detach(|| maloko_cli::page_of_fleet(document)).map_err(|error| PyValueError::new_err(error.to_string()))
}
