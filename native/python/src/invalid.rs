//! `InvalidRequestError`, which says what is wrong with a request.

use birthmark_answer::{Fault, Kind};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(birthmark_native, InvalidRequestError, PyValueError);

/// The exception for a fault.
pub fn invalid(py: Python<'_>, fault: Fault) -> PyErr {
    let error = InvalidRequestError::new_err(fault.expected.clone());
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

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("InvalidRequestError", module.py().get_type::<InvalidRequestError>())
}
