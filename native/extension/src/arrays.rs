//! Arrays exchanged with Python, of the types that functions take.

use crate::errors::{NULLS, WRONG_TYPE};
use arrow_array::types::ArrowPrimitiveType;
use arrow_array::{Array, BinaryArray, PrimitiveArray, RecordBatch};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use arrow_schema::DataType;
use pyo3::prelude::*;

/// A column exchanged with Python.
pub type Column = PyArrowType<ArrayData>;

/// Rows exchanged with Python.
pub type Batch = PyArrowType<RecordBatch>;

/// An argument, if it is of the type `wanted`.
pub fn typed<A: From<ArrayData>>(array: Column, wanted: &DataType, argument: &str) -> PyResult<A> {
    if array.0.data_type() == wanted {
        return Ok(array.0.into());
    }
    let found = array.0.data_type();
    Err(WRONG_TYPE.because(format_args!("{argument} must be of type {wanted}, not {found}")))
}

/// An argument, if it is of byte strings.
pub fn bytes(array: Column, argument: &str) -> PyResult<BinaryArray> {
    typed(array, &DataType::Binary, argument)
}

/// An argument, if it is of numbers of that type.
pub fn numbers<T: ArrowPrimitiveType>(
    array: Column,
    argument: &str,
) -> PyResult<PrimitiveArray<T>> {
    typed(array, &T::DATA_TYPE, argument)
}

/// An argument, if it is of numbers of that type and has no nulls.
pub fn whole<T: ArrowPrimitiveType>(array: Column, argument: &str) -> PyResult<PrimitiveArray<T>> {
    let array = numbers(array, argument)?;
    if array.null_count() > 0 {
        return Err(NULLS.because(format_args!("{argument} has nulls")));
    }
    Ok(array)
}

/// An array for Python.
pub fn column(array: impl Array) -> Column {
    PyArrowType(array.to_data())
}
