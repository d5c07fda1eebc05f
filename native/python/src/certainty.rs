//! `Certainty`, for Python.

use super::arrays::{column, Column};
use super::errors::{raise, UNEQUAL_LEVELS};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt8Type;
use arrow_array::{make_array, Array, Float64Array, UInt8Array};
use birthmark_learn::certainty::{Certainty, ThreeWayAnswer, STEPS};
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
        Ok(py.detach(|| answer(&self.certainty, &columns, rows)).finish())
    }
}

/// Answers as two columns per predicate: the answers by number, and the probabilities.
pub struct Columns {
    words: Vec<Vec<u8>>,
    likely: Vec<Vec<Option<f64>>>,
}

impl Columns {
    /// Empty columns for `rows` answers about `predicates`.
    pub fn new(predicates: usize, rows: usize) -> Columns {
        let words = vec![Vec::with_capacity(rows); predicates];
        Columns { words, likely: vec![Vec::with_capacity(rows); predicates] }
    }

    /// Adds a row.
    pub fn push(&mut self, answers: &[ThreeWayAnswer]) {
        for ((words, likely), each) in self.words.iter_mut().zip(&mut self.likely).zip(answers) {
            words.push(each.word as u8);
            let known = each.probability != 0;
            likely.push(known.then(|| f64::from(each.probability) / f64::from(STEPS)));
        }
    }

    /// The answers, and the probabilities.
    pub fn finish(self) -> (Vec<Column>, Vec<Column>) {
        let words = self.words.into_iter().map(|each| column(UInt8Array::from(each)));
        let likely = self.likely.into_iter().map(|each| column(Float64Array::from(each)));
        (words.collect(), likely.collect())
    }
}

fn answer(certainty: &Certainty, levels: &[&UInt8Array], rows: usize) -> Columns {
    let mut columns = Columns::new(levels.len(), rows);
    let mut answers = Vec::new();
    for row in 0..rows {
        certainty.answer(levels.iter().map(|column| usize::from(column.value(row))), &mut answers);
        columns.push(&answers);
    }
    columns
}
