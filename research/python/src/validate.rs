//! `storage_validate`, for Python.

use super::errors::{raise_at, system, BAD_DRIVE_JSON, BROKEN};
use birthmark_research::measured::{self, Measured, MeasuredError};
use birthmark_research::validation;
use birthmark_storage::drive::{Drive, Parameters};
use pyo3::prelude::*;
use std::io::BufReader;
use std::path::{Path, PathBuf};

#[pyfunction]
pub fn storage_validate(
    py: Python<'_>,
    trace: PathBuf,
    drive_json: &str,
    drive: PathBuf,
) -> PyResult<String> {
    let mut made = make(drive_json, &drive)?;
    py.detach(|| {
        let requests = read(&trace)?;
        let found = validation::validate(&mut made, &requests);
        let found = found.map_err(|error| raise_at(&trace, error))?;
        let found = found.ok_or_else(|| raise_at(&trace, MeasuredError::Empty))?;
        serde_json::to_string(&found).map_err(|error| BROKEN.because(error))
    })
}

/// The drive of parameters, which come from a path.
fn make(json: &str, path: &Path) -> PyResult<Drive> {
    let parameters: Parameters = serde_json::from_str(json)
        .map_err(|error| BAD_DRIVE_JSON.because(format_args!("{}: {error}", path.display())))?;
    Drive::new(&parameters).map_err(|error| raise_at(path, error))
}

/// The requests of a trace, compressed or not.
fn read(trace: &Path) -> PyResult<Vec<Measured>> {
    let (_, bytes) = birthmark_source::open(trace).map_err(|error| system(trace, &error))?;
    measured::read(BufReader::new(bytes)).map_err(|error| raise_at(trace, error))
}
