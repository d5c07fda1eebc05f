//! `Sample` and `Trees`: growing a forest.

use super::arrays::{column, typed, whole, Batch, Column};
use super::errors::raise;
use arrow_array::types::UInt8Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, RecordBatch, UInt16Array, UInt32Array, UInt8Array,
};
use arrow_pyarrow::PyArrowType;
use arrow_schema::DataType;
use birthmark_learn::forest::processors;
use birthmark_learn::grow::{self, Growth, Sample, Trees};
use pyo3::prelude::*;
use std::sync::Arc;

#[pyclass(frozen, name = "Sample")]
pub struct PySample(Sample);

#[pymethods]
impl PySample {
    #[new]
    fn new(columns: Column, answers: Column, rows: usize) -> PyResult<Self> {
        let columns = whole::<UInt8Type>(columns, "columns")?;
        let answers: BooleanArray = typed(answers, &DataType::Boolean, "answers")?;
        let sample = Sample::new(columns.values().clone(), answers.values(), answers.nulls(), rows);
        sample.map(PySample).map_err(raise)
    }

    #[pyo3(signature = (trees, leaves, leaf_rows, height, tried, seed, drawn=None, threads=None))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn randomized(
        &self,
        py: Python<'_>,
        trees: usize,
        leaves: usize,
        leaf_rows: usize,
        height: u8,
        tried: usize,
        seed: u64,
        drawn: Option<usize>,
        threads: Option<usize>,
    ) -> PyTrees {
        let growth = Growth { leaves, leaf_rows, height, tried };
        let threads = threads.unwrap_or_else(processors);
        PyTrees(py.detach(|| grow::randomized(&self.0, growth, trees, drawn, seed, threads)))
    }

    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn boosted(
        &self,
        py: Python<'_>,
        trees: usize,
        leaves: usize,
        leaf_rows: usize,
        height: u8,
        tried: usize,
        seed: u64,
        rate: f32,
    ) -> (Vec<f32>, PyTrees) {
        let growth = Growth { leaves, leaf_rows, height, tried };
        let (means, grown) = py.detach(|| grow::boosted(&self.0, growth, trees, rate, seed));
        (means, PyTrees(grown))
    }
}

#[pyclass(frozen, name = "Trees")]
pub struct PyTrees(Trees);

#[pymethods]
impl PyTrees {
    #[getter]
    fn leaves(&self) -> usize {
        self.0.leaves()
    }

    #[getter]
    fn most_leaves(&self) -> usize {
        self.0.most_leaves()
    }

    #[pyo3(signature = (leaves=None))]
    fn nodes(&self, leaves: Option<usize>) -> PyResult<(Batch, Column, Column)> {
        let nodes = self.0.nodes(leaves);
        let columns: [(&str, ArrayRef); 4] = [
            ("column", Arc::new(UInt16Array::from(nodes.columns))),
            ("threshold", Arc::new(UInt8Array::from(nodes.thresholds))),
            ("target", Arc::new(UInt32Array::from(nodes.targets))),
            ("rows", Arc::new(UInt32Array::from(nodes.rows))),
        ];
        let batch = RecordBatch::try_from_iter(columns).map_err(raise)?;
        let (roots, means) = (UInt32Array::from(nodes.roots), Float32Array::from(nodes.means));
        Ok((PyArrowType(batch), column(roots), column(means)))
    }
}
