//! `InvalidRequestError`, which describes the fault of a request.

use super::errors::BAD_REQUEST;
use birthmark_answer::{Fault, Kind};
use pyo3::prelude::*;

/// The exception for a fault.
pub fn invalid(py: Python<'_>, fault: Fault) -> PyErr {
    let error = BAD_REQUEST.because(&fault.expected);
    match tell(error.value(py), fault) {
        Ok(()) => error,
        Err(failed) => failed,
    }
}

fn tell(error: &Bound<'_, PyAny>, fault: Fault) -> PyResult<()> {
    error.setattr("is_json", fault.kind != Kind::Json)?;
    error.setattr("field", fault.field())?;
    error.setattr("found", fault.found)
}
