//! The components of names: split, counted, matched, and decided by.

use super::arrays::{bytes, column, given, numbers, typed, Batch, Column};
use super::errors::raise;
use arrow_array::types::{ArrowPrimitiveType, Float64Type, UInt32Type};
use arrow_array::{Array, BinaryArray, BooleanArray};
use arrow_pyarrow::PyArrowType;
use arrow_schema::DataType;
use birthmark_learn::components::{self, count, rules::Rules};
use pyo3::prelude::*;

#[pyfunction]
pub fn name_components(name: &[u8], prefix: bool) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    components::split(name, prefix, &mut found);
    found.iter().map(|(_, component)| component.render()).collect()
}

#[pyfunction]
pub fn count_components(
    py: Python<'_>,
    names: Column,
    labels: Batch,
    prefix: bool,
) -> PyResult<Batch> {
    let names = bytes(names, "names")?;
    let schema = labels.0.schema();
    let columns = schema.fields().iter().zip(labels.0.columns()).map(|(field, labels)| {
        let labels = typed(column(labels), &DataType::Boolean, field.name())?;
        Ok((field.name().clone(), labels))
    });
    let labels: Vec<(String, BooleanArray)> = columns.collect::<PyResult<_>>()?;
    let counted = py.detach(|| count::count(&names, &labels, prefix));
    counted.map(PyArrowType).map_err(raise)
}

#[pyfunction]
pub fn match_components(
    py: Python<'_>,
    names: Column,
    rules: Column,
    prefix: bool,
) -> PyResult<Column> {
    let (names, rules) = (bytes(names, "names")?, bytes(rules, "rules")?);
    given(py.detach(|| components::first_match(&names, &rules, prefix)))
}

#[pyfunction]
pub fn whole_names(components: Column) -> PyResult<Column> {
    Ok(column(components::whole_names(&bytes(components, "components")?)))
}

#[pyfunction]
pub fn rank_components(name: &[u8], prefix: bool) -> Vec<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    components::split(name, prefix, &mut found);
    found.sort_unstable();
    let roles = found.chunk_by(|one, other| one.0 == other.0);
    roles.map(|role| role.iter().map(|(_, component)| component.render()).collect()).collect()
}

#[pyfunction]
pub fn score_components(
    py: Python<'_>,
    names: Column,
    rules: Column,
    lower: Column,
    upper: Column,
    prefix: bool,
) -> PyResult<Column> {
    let asked = [names, rules, lower, upper];
    by_rules::<Float64Type, _>(py, asked, prefix, |rules, names| rules.score(names))
}

#[pyfunction]
pub fn decide_components(
    py: Python<'_>,
    names: Column,
    rules: Column,
    lower: Column,
    upper: Column,
    threshold: f64,
    prefix: bool,
) -> PyResult<Column> {
    let asked = [names, rules, lower, upper];
    by_rules::<Float64Type, _>(py, asked, prefix, |rules, names| rules.decide(names, threshold))
}

#[pyfunction]
pub fn prune_components(
    py: Python<'_>,
    names: Column,
    rules: Column,
    lower: Column,
    upper: Column,
    most: u32,
    prefix: bool,
) -> PyResult<Column> {
    let asked = [names, rules, lower, upper];
    by_rules::<UInt32Type, _>(py, asked, prefix, |rules, names| rules.prune(names, most))
}

/// What rules with these bounds say of these names.
fn by_rules<T: ArrowPrimitiveType, A: Array>(
    py: Python<'_>,
    [names, rules, lower, upper]: [Column; 4],
    prefix: bool,
    ask: impl Send + FnOnce(&Rules<'_, T::Native>, &BinaryArray) -> A,
) -> PyResult<Column> {
    let (names, rules) = (bytes(names, "names")?, bytes(rules, "rules")?);
    let (lower, upper) = (numbers::<T>(lower, "lower")?, numbers::<T>(upper, "upper")?);
    given(py.detach(|| {
        let rules = Rules::new(&rules, lower.values(), upper.values(), prefix);
        rules.map(|rules| ask(&rules, &names))
    }))
}
