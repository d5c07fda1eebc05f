//! `storage_bench`, `storage_files`, `storage_stream`, `storage_counts` and `storage_ejections`, for Python.

use super::errors::{BAD_DRIVE_JSON, BAD_STORAGE_SETUP, BROKEN};
use birthmark_research::bench::{self, Setup};
use birthmark_research::stream::{self, Stream};
use birthmark_sim::benchmark::Files;
use birthmark_storage::readahead::{ejections, Choice, Read, TableRules};
use pyo3::prelude::*;

#[pyfunction]
pub fn storage_bench(py: Python<'_>, setup_json: &str) -> PyResult<String> {
    let setup: Setup =
        serde_json::from_str(setup_json).map_err(|error| BAD_DRIVE_JSON.because(error))?;
    py.detach(|| {
        let outcome = bench::run(&setup).map_err(|error| BAD_STORAGE_SETUP.because(error))?;
        serde_json::to_string(&outcome).map_err(|error| BROKEN.because(error))
    })
}

#[pyfunction]
pub fn storage_files(py: Python<'_>, files_json: &str) -> PyResult<String> {
    let files: Files =
        serde_json::from_str(files_json).map_err(|error| BAD_DRIVE_JSON.because(error))?;
    py.detach(|| {
        let placed = files.place().map_err(|error| BAD_STORAGE_SETUP.because(error))?;
        serde_json::to_string(&placed).map_err(|error| BROKEN.because(error))
    })
}

#[pyfunction]
pub fn storage_stream(py: Python<'_>, setup_json: &str) -> PyResult<String> {
    let setup: Stream =
        serde_json::from_str(setup_json).map_err(|error| BAD_DRIVE_JSON.because(error))?;
    py.detach(|| {
        let found = stream::run(&setup).map_err(|error| BAD_STORAGE_SETUP.because(error))?;
        serde_json::to_string(&found).map_err(|error| BROKEN.because(error))
    })
}

#[pyfunction]
pub fn storage_ejections(
    py: Python<'_>,
    table_json: &str,
    readers: Vec<u64>,
) -> PyResult<Vec<f64>> {
    let rules: TableRules =
        serde_json::from_str(table_json).map_err(|error| BAD_DRIVE_JSON.because(error))?;
    Ok(py.detach(|| ejections(rules, &readers)))
}

#[pyfunction]
pub fn storage_counts(
    py: Python<'_>,
    heuristic_json: &str,
    offsets: Vec<u64>,
    bytes: u64,
) -> PyResult<Vec<u32>> {
    let choice: Choice =
        serde_json::from_str(heuristic_json).map_err(|error| BAD_DRIVE_JSON.because(error))?;
    Ok(py.detach(|| {
        let mut heuristic = choice.make(None);
        let read = |offset| Read { offset, bytes, at: 0 };
        offsets.into_iter().map(|offset| heuristic.seen(0, &read(offset))).collect()
    }))
}
