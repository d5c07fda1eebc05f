//! Arrays of Python, of the types that functions take.

use super::errors::{NULLS, WRONG_TYPE};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use arrow_schema::DataType;
use pyo3::prelude::*;

/// An argument, if it is of the type `wanted`.
pub fn typed(
    array: PyArrowType<ArrayData>,
    wanted: &DataType,
    argument: &str,
) -> PyResult<ArrayData> {
    if array.0.data_type() == wanted {
        return Ok(array.0);
    }
    let found = array.0.data_type();
    Err(WRONG_TYPE.because(format_args!("{argument} must be of type {wanted}, not {found}")))
}

/// An argument, if it is of the type `wanted` and has no nulls.
pub fn whole(
    array: PyArrowType<ArrayData>,
    wanted: &DataType,
    argument: &str,
) -> PyResult<ArrayData> {
    let array = typed(array, wanted, argument)?;
    if array.null_count() > 0 {
        return Err(NULLS.because(format_args!("{argument} has nulls")));
    }
    Ok(array)
}
