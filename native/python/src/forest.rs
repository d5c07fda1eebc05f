//! `Forest`, `encode_names` and `fnv1a`.

use super::arrays::{typed, whole};
use super::errors::{raise, UNEQUAL_NODES};
use arrow_array::{
    Array, ArrayRef, BinaryArray, RecordBatch, UInt16Array, UInt32Array, UInt8Array,
};
use arrow_data::ArrayData;
use arrow_pyarrow::PyArrowType;
use arrow_schema::DataType;
use birthmark_learn::encode;
use birthmark_learn::forest::{processors, Forest, Node};
use pyo3::prelude::*;
use std::sync::Arc;

/// Adds the class and the functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyForest>()?;
    module.add_function(wrap_pyfunction!(encode_names, module)?)?;
    module.add_function(wrap_pyfunction!(fnv1a, module)?)
}

#[pyclass(frozen, name = "Forest")]
struct PyForest(Forest);

#[pymethods]
impl PyForest {
    #[new]
    fn new(
        columns: PyArrowType<ArrayData>,
        thresholds: PyArrowType<ArrayData>,
        targets: PyArrowType<ArrayData>,
        roots: PyArrowType<ArrayData>,
        scores: PyArrowType<ArrayData>,
        outputs: usize,
        width: usize,
    ) -> PyResult<Self> {
        let columns = UInt16Array::from(whole(columns, &DataType::UInt16, "columns")?);
        let thresholds = UInt8Array::from(whole(thresholds, &DataType::UInt8, "thresholds")?);
        let targets = UInt32Array::from(whole(targets, &DataType::UInt32, "targets")?);
        let roots = UInt32Array::from(whole(roots, &DataType::UInt32, "roots")?);
        let scores = UInt8Array::from(whole(scores, &DataType::UInt8, "scores")?);
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
    fn sums(
        &self,
        py: Python<'_>,
        matrix: PyArrowType<ArrayData>,
        threads: Option<usize>,
    ) -> PyResult<PyArrowType<ArrayData>> {
        let matrix = UInt8Array::from(whole(matrix, &DataType::UInt8, "matrix")?);
        let threads = threads.unwrap_or_else(processors);
        let sums = py.detach(|| self.0.sums(matrix.values(), threads)).map_err(raise)?;
        Ok(PyArrowType(UInt32Array::from(sums).into_data()))
    }
}

#[pyfunction]
fn encode_names(
    py: Python<'_>,
    names: PyArrowType<ArrayData>,
) -> PyResult<(PyArrowType<ArrayData>, PyArrowType<RecordBatch>)> {
    let names = BinaryArray::from(typed(names, &DataType::Binary, "names")?);
    let (numbers, shapes, suffixes) = py.detach(|| encode::encode(&names));
    let hashes: [(&str, ArrayRef); 2] = [
        ("shape", Arc::new(UInt32Array::from(shapes))),
        ("suffix", Arc::new(UInt32Array::from(suffixes))),
    ];
    let hashes = RecordBatch::try_from_iter(hashes).map_err(raise)?;
    Ok((PyArrowType(UInt8Array::from(numbers).into_data()), PyArrowType(hashes)))
}

#[pyfunction]
fn fnv1a(bytes: &[u8]) -> u32 {
    encode::fnv1a(bytes)
}
