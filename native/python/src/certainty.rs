//! `Certainty`, for Python.

use super::arrays::{column, Column};
use super::errors::{raise, UNEQUAL_LEVELS};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt8Type;
use arrow_array::{make_array, Array, UInt8Array};
use birthmark_learn::certainty::{Certainty, Columns};
use pyo3::prelude::*;

#[pyclass(name = "Certainty", frozen)]
pub struct PyCertainty {
    certainty: Certainty,
}

#[pymethods]
impl PyCertainty {
    #[new]
    #[pyo3(signature = (described, abstaining=Vec::new()))]
    fn new(described: &str, abstaining: Vec<String>) -> PyResult<PyCertainty> {
        let certainty = Certainty::read(described, &abstaining).map_err(raise)?;
        Ok(PyCertainty { certainty })
    }

    #[getter]
    fn predicates(&self) -> Vec<String> {
        self.certainty.keys().to_vec()
    }

    fn answer(&self, py: Python<'_>, levels: Vec<Column>) -> PyResult<(Vec<Column>, Vec<Column>)> {
        let arrays: Vec<_> = levels.into_iter().map(|column| make_array(column.0)).collect();
        let columns: Option<Vec<&UInt8Array>> =
            arrays.iter().map(|array| array.as_primitive_opt::<UInt8Type>()).collect();
        let rows = arrays.first().map_or(0, |array| array.len());
        let fit = arrays.len() == self.certainty.keys().len();
        let columns = columns
            .filter(|columns| fit && columns.iter().all(|column| column.len() == rows))
            .ok_or_else(|| UNEQUAL_LEVELS.because("expected a column of levels per predicate"))?;
        Ok(given(py.detach(|| answer(&self.certainty, &columns, rows))))
    }
}

/// The answers, and the probabilities, for Python.
pub fn given(columns: Columns) -> (Vec<Column>, Vec<Column>) {
    let (words, likely) = columns.finish();
    (words.into_iter().map(column).collect(), likely.into_iter().map(column).collect())
}

fn answer(certainty: &Certainty, levels: &[&UInt8Array], rows: usize) -> Columns {
    let mut columns = Columns::new(levels.len());
    let mut answers = Vec::new();
    for row in 0..rows {
        certainty.answer(levels.iter().map(|column| usize::from(column.value(row))), &mut answers);
        columns.push(&answers);
    }
    columns
}
