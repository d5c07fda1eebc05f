//! `HistoryKeeper` and `fold_shapes`.

use super::arrays::typed;
use super::errors::raise;
use arrow_array::{Array, BinaryArray, FixedSizeBinaryArray, RecordBatch};
use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow, PyArrowType, ToPyArrow};
use arrow_schema::DataType;
use birthmark_learn::history::{shapes, Error, History};
use pyo3::prelude::*;

/// Adds what is here to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HistoryKeeper>()?;
    module.add_function(wrap_pyfunction!(fold_shapes, module)?)
}

#[pyclass]
struct HistoryKeeper {
    history: History,
}

#[pymethods]
impl HistoryKeeper {
    #[new]
    fn new(max_keys: usize) -> PyResult<HistoryKeeper> {
        let history = History::new(max_keys).map_err(raise)?;
        Ok(HistoryKeeper { history })
    }

    #[staticmethod]
    fn from_batch(
        batch: &Bound<'_, PyAny>,
        max_keys: usize,
        clock: i64,
    ) -> PyResult<HistoryKeeper> {
        let batch = RecordBatch::from_pyarrow_bound(batch)?;
        let history = History::from_batch(&batch, max_keys, clock).map_err(raise)?;
        Ok(HistoryKeeper { history })
    }

    #[getter]
    fn max_keys(&self) -> usize {
        self.history.most()
    }

    #[getter]
    fn clock(&self) -> i64 {
        self.history.clock()
    }

    fn follow(
        &mut self,
        py: Python<'_>,
        lives: &Bound<'_, PyAny>,
    ) -> PyResult<PyArrowType<ArrayData>> {
        let lives = RecordBatch::from_pyarrow_bound(lives)?;
        wrap(py.detach(|| self.history.follow(&lives)))
    }

    fn at(&self, py: Python<'_>, creates: &Bound<'_, PyAny>) -> PyResult<PyArrowType<ArrayData>> {
        let creates = RecordBatch::from_pyarrow_bound(creates)?;
        wrap(py.detach(|| self.history.at(&creates)))
    }

    fn to_batch<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.history.to_batch().map_err(raise)?.to_pyarrow(py)
    }
}

#[pyfunction]
fn fold_shapes(py: Python<'_>, names: PyArrowType<ArrayData>) -> PyResult<PyArrowType<ArrayData>> {
    let names = BinaryArray::from(typed(names, &DataType::Binary, "names")?);
    Ok(PyArrowType(py.detach(|| shapes(&names)).into_data()))
}

fn wrap(told: Result<FixedSizeBinaryArray, Error>) -> PyResult<PyArrowType<ArrayData>> {
    told.map(|told| PyArrowType(told.into_data())).map_err(raise)
}
