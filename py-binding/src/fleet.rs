//! What a fleet file means, for `maloko.fleet`: plans and texts are made by `maloko-fleet`, once for both languages.

use pyo3::prelude::*;

use crate::error::maloko_error;

/// The plan (JSON) of a run that a request (JSON) asks for. `source` is the path of a fleet file, or a document (JSON) that code
/// has made. Raises `MalokoError` with the place of what is wrong.
#[pyfunction]
pub(crate) fn fleet_plan(py: Python<'_>, source: &str, request: &str) -> PyResult<String> {
    py.detach(|| maloko_fleet::plan(source, request)).map_err(|fault| maloko_error(py, &fault))
}

/// The name of a fleet and its server, as JSON: `{"name", "engine"}`. `source` as for `fleet_plan`. Raises `MalokoError` with the
/// place of what is wrong.
#[pyfunction]
pub(crate) fn fleet_place(py: Python<'_>, source: &str) -> PyResult<String> {
    py.detach(|| maloko_fleet::place_json(source)).map_err(|fault| maloko_error(py, &fault))
}

/// The text that people see of a document (JSON) of a kind: `progress`, `results`, `stacks`, `runs` or `past`. No line is wider than so
/// many columns; 0 for any width. Raises `MalokoError` for what cannot be read.
#[pyfunction]
pub(crate) fn fleet_text(py: Python<'_>, kind: &str, document: &str, columns: usize) -> PyResult<String> {
    py.detach(|| maloko_fleet::text(kind, document, columns)).map_err(|fault| maloko_error(py, &fault))
}
