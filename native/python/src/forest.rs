//! `Forest`, `encode_names` and `fnv1a`.

use super::arrays::{bytes, column, typed, whole, Batch, Column};
use super::errors::{raise, UNEQUAL_NODES};
use arrow_array::types::{Float32Type, UInt16Type, UInt32Type, UInt8Type};
use arrow_array::{ArrayRef, BooleanArray, RecordBatch, UInt32Array, UInt8Array};
use arrow_pyarrow::PyArrowType;
use arrow_schema::DataType;
use birthmark_learn::encode;
use birthmark_learn::forest::{processors, Forest, Node, Refit, UNKNOWN};
use pyo3::prelude::*;
use std::sync::Arc;

#[pyclass(frozen, name = "Forest")]
pub struct PyForest(Forest);

#[pymethods]
impl PyForest {
    #[new]
    fn new(
        columns: Column,
        thresholds: Column,
        targets: Column,
        roots: Column,
        scores: Column,
        outputs: usize,
        width: usize,
    ) -> PyResult<Self> {
        let columns = whole::<UInt16Type>(columns, "columns")?;
        let thresholds = whole::<UInt8Type>(thresholds, "thresholds")?;
        let targets = whole::<UInt32Type>(targets, "targets")?;
        let roots = whole::<UInt32Type>(roots, "roots")?;
        let scores = whole::<UInt8Type>(scores, "scores")?;
        if columns.len() != thresholds.len() || columns.len() != targets.len() {
            let message = "nodes need a column, a threshold and a target each";
            return Err(UNEQUAL_NODES.because(message));
        }
        let parts = columns.values().iter().zip(thresholds.values()).zip(targets.values());
        let nodes = parts
            .map(|((&column, &threshold), &target)| Node { column, threshold, target })
            .collect();
        Forest::new(nodes, roots.values().to_vec(), scores.values().to_vec(), outputs, width)
            .map(PyForest)
            .map_err(raise)
    }

    #[pyo3(signature = (matrix, threads=None))]
    fn sums(&self, py: Python<'_>, matrix: Column, threads: Option<usize>) -> PyResult<Column> {
        let matrix = whole::<UInt8Type>(matrix, "matrix")?;
        let threads = threads.unwrap_or_else(processors);
        let sums = py.detach(|| self.0.sums(matrix.values(), threads)).map_err(raise)?;
        Ok(column(UInt32Array::from(sums)))
    }

    fn refit(
        &self,
        py: Python<'_>,
        matrix: Column,
        answers: Column,
        base: Column,
        unit: f32,
        how: (f32, f32, usize),
    ) -> PyResult<Column> {
        let matrix = whole::<UInt8Type>(matrix, "matrix")?;
        let base = whole::<Float32Type>(base, "base")?;
        let answers = three_valued(answers)?;
        let (rate, prior, passes) = how;
        let how = Refit { rate, prior, passes };
        let score = (&base.values()[..], unit);
        let scores =
            py.detach(|| self.0.refit(matrix.values(), &answers, score, how)).map_err(raise)?;
        Ok(column(UInt8Array::from(scores)))
    }
}

/// Booleans as bytes; nulls are `UNKNOWN`.
fn three_valued(answers: Column) -> PyResult<Vec<u8>> {
    let answers: BooleanArray = typed(answers, &DataType::Boolean, "answers")?;
    Ok(answers.iter().map(|answer| answer.map_or(UNKNOWN, u8::from)).collect())
}

#[pyfunction]
pub fn encode_names(py: Python<'_>, names: Column) -> PyResult<(Column, Batch)> {
    let names = bytes(names, "names")?;
    let (numbers, shapes, suffixes) = py.detach(|| encode::encode(&names));
    let hashes: [(&str, ArrayRef); 2] = [
        ("shape", Arc::new(UInt32Array::from(shapes))),
        ("suffix", Arc::new(UInt32Array::from(suffixes))),
    ];
    let hashes = RecordBatch::try_from_iter(hashes).map_err(raise)?;
    Ok((column(UInt8Array::from(numbers)), PyArrowType(hashes)))
}

#[pyfunction]
pub fn fnv1a(bytes: &[u8]) -> u32 {
    encode::fnv1a(bytes)
}
