//! `name_components`, `count_components` and `match_components`.

use crate::components;
use arrow_array::{Array, RecordBatch};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(name_components, module)?)?;
    module.add_function(wrap_pyfunction!(count_components, module)?)?;
    module.add_function(wrap_pyfunction!(match_components, module)?)
}

#[pyfunction]
fn name_components(name: &[u8], prefix: bool) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    components::split(name, prefix, &mut found);
    found.iter().map(components::Component::render).collect()
}

#[pyfunction]
fn count_components(
    py: Python<'_>,
    names: PyArrowType<ArrayData>,
    labels: PyArrowType<ArrayData>,
    prefix: bool,
) -> PyResult<PyArrowType<RecordBatch>> {
    let names = typed(names, DataType::Binary, "names")?;
    let labels = typed(labels, DataType::Boolean, "labels")?;
    let counted = py.detach(|| components::count(&names.into(), &labels.into(), prefix));
    counted.map(PyArrowType).map_err(value_error)
}

#[pyfunction]
fn match_components(
    py: Python<'_>,
    names: PyArrowType<ArrayData>,
    rules: PyArrowType<ArrayData>,
    prefix: bool,
) -> PyResult<PyArrowType<ArrayData>> {
    let names = typed(names, DataType::Binary, "names")?;
    let rules = typed(rules, DataType::Binary, "rules")?;
    let matched = py.detach(|| components::first_match(&names.into(), &rules.into(), prefix));
    matched.map(|ranks| PyArrowType(ranks.into_data())).map_err(value_error)
}

fn typed(array: PyArrowType<ArrayData>, wanted: DataType, argument: &str) -> PyResult<ArrayData> {
    if array.0.data_type() == &wanted {
        return Ok(array.0);
    }
    let found = array.0.data_type();
    Err(PyTypeError::new_err(format!("{argument} must be of type {wanted}, not {found}")))
}

fn value_error(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}
