//! `storage_theory`, for Python.

use super::errors::{BAD_DRIVE_JSON, BROKEN};
use birthmark_research::theory::{compare, Case};
use pyo3::prelude::*;

#[pyfunction]
pub fn storage_theory(py: Python<'_>, case: &str, customers: usize, seed: u64) -> PyResult<String> {
    let case: Case = serde_json::from_str(case).map_err(|error| BAD_DRIVE_JSON.because(error))?;
    let found = py.detach(|| compare(case, customers, seed));
    serde_json::to_string(&found).map_err(|error| BROKEN.because(error))
}
