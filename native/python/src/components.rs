//! The components of names: split, counted, matched, and decided by.

use super::arrays::typed;
use super::errors::raise;
use arrow_array::{Array, BinaryArray, BooleanArray, Float64Array, RecordBatch, UInt32Array};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use arrow_schema::DataType;
use birthmark_learn::components::{self, count, rules};
use pyo3::prelude::*;

/// Adds the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(name_components, module)?)?;
    module.add_function(wrap_pyfunction!(count_components, module)?)?;
    module.add_function(wrap_pyfunction!(match_components, module)?)?;
    module.add_function(wrap_pyfunction!(whole_names, module)?)?;
    module.add_function(wrap_pyfunction!(rank_components, module)?)?;
    module.add_function(wrap_pyfunction!(score_components, module)?)?;
    module.add_function(wrap_pyfunction!(decide_components, module)?)?;
    module.add_function(wrap_pyfunction!(prune_components, module)?)
}

#[pyfunction]
fn name_components(name: &[u8], prefix: bool) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    components::split(name, prefix, &mut found);
    found.iter().map(|(_, component)| component.render()).collect()
}

#[pyfunction]
fn count_components(
    py: Python<'_>,
    names: PyArrowType<ArrayData>,
    labels: PyArrowType<RecordBatch>,
    prefix: bool,
) -> PyResult<PyArrowType<RecordBatch>> {
    let names: BinaryArray = typed(names, &DataType::Binary, "names")?.into();
    let schema = labels.0.schema();
    let columns = schema.fields().iter().zip(labels.0.columns()).map(|(field, column)| {
        let column = typed(PyArrowType(column.to_data()), &DataType::Boolean, field.name())?;
        Ok((field.name().clone(), BooleanArray::from(column)))
    });
    let labels = columns.collect::<PyResult<Vec<_>>>()?;
    let counted = py.detach(|| count::count(&names, &labels, prefix));
    counted.map(PyArrowType).map_err(raise)
}

#[pyfunction]
fn match_components(
    py: Python<'_>,
    names: PyArrowType<ArrayData>,
    rules: PyArrowType<ArrayData>,
    prefix: bool,
) -> PyResult<PyArrowType<ArrayData>> {
    let names = typed(names, &DataType::Binary, "names")?;
    let rules = typed(rules, &DataType::Binary, "rules")?;
    let matched = py.detach(|| components::first_match(&names.into(), &rules.into(), prefix));
    matched.map(|ranks| PyArrowType(ranks.into_data())).map_err(raise)
}

#[pyfunction]
fn whole_names(components: PyArrowType<ArrayData>) -> PyResult<PyArrowType<ArrayData>> {
    let components: BinaryArray = typed(components, &DataType::Binary, "components")?.into();
    Ok(PyArrowType(components::whole_names(&components).into_data()))
}

#[pyfunction]
fn rank_components(name: &[u8], prefix: bool) -> Vec<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    components::split(name, prefix, &mut found);
    found.sort_unstable();
    let roles = found.chunk_by(|one, other| one.0 == other.0);
    roles.map(|role| role.iter().map(|(_, component)| component.render()).collect()).collect()
}

#[pyfunction]
fn score_components(
    py: Python<'_>,
    names: PyArrowType<ArrayData>,
    rules: PyArrowType<ArrayData>,
    lower: PyArrowType<ArrayData>,
    upper: PyArrowType<ArrayData>,
    prefix: bool,
) -> PyResult<PyArrowType<ArrayData>> {
    let names: BinaryArray = typed(names, &DataType::Binary, "names")?.into();
    let rules: BinaryArray = typed(rules, &DataType::Binary, "rules")?.into();
    let lower: Float64Array = typed(lower, &DataType::Float64, "lower")?.into();
    let upper: Float64Array = typed(upper, &DataType::Float64, "upper")?.into();
    let scores = py.detach(|| rules::score(&names, &rules, &lower, &upper, prefix));
    scores.map(|scores| PyArrowType(scores.into_data())).map_err(raise)
}

#[pyfunction]
fn decide_components(
    py: Python<'_>,
    names: PyArrowType<ArrayData>,
    rules: PyArrowType<ArrayData>,
    lower: PyArrowType<ArrayData>,
    upper: PyArrowType<ArrayData>,
    threshold: f64,
    prefix: bool,
) -> PyResult<PyArrowType<ArrayData>> {
    let names: BinaryArray = typed(names, &DataType::Binary, "names")?.into();
    let rules: BinaryArray = typed(rules, &DataType::Binary, "rules")?.into();
    let lower: Float64Array = typed(lower, &DataType::Float64, "lower")?.into();
    let upper: Float64Array = typed(upper, &DataType::Float64, "upper")?.into();
    let decided = py.detach(|| rules::decide(&names, &rules, &lower, &upper, threshold, prefix));
    decided.map(|ranks| PyArrowType(ranks.into_data())).map_err(raise)
}

#[pyfunction]
fn prune_components(
    py: Python<'_>,
    names: PyArrowType<ArrayData>,
    rules: PyArrowType<ArrayData>,
    lower: PyArrowType<ArrayData>,
    upper: PyArrowType<ArrayData>,
    most: u32,
    prefix: bool,
) -> PyResult<PyArrowType<ArrayData>> {
    let names: BinaryArray = typed(names, &DataType::Binary, "names")?.into();
    let rules: BinaryArray = typed(rules, &DataType::Binary, "rules")?.into();
    let lower: UInt32Array = typed(lower, &DataType::UInt32, "lower")?.into();
    let upper: UInt32Array = typed(upper, &DataType::UInt32, "upper")?.into();
    let kept = py.detach(|| rules::prune(&names, &rules, &lower, &upper, most, prefix));
    kept.map(|kept| PyArrowType(kept.into_data())).map_err(raise)
}
