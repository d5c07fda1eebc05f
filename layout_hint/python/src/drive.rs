//! `check_drive`, for Python.

use super::errors::{raise_at, BAD_DRIVE_JSON};
use birthmark_storage::drive::{Drive, Parameters};
use pyo3::prelude::*;
use std::path::PathBuf;

#[pyfunction]
pub fn check_drive(drive_json: &str, drive: PathBuf) -> PyResult<()> {
    let parameters: Parameters = serde_json::from_str(drive_json)
        .map_err(|error| BAD_DRIVE_JSON.because(format_args!("{}: {error}", drive.display())))?;
    Drive::new(&parameters).map(|_| ()).map_err(|error| raise_at(&drive, error))
}
