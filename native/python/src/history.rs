//! `HistoryKeeper` and `fold_shapes`.

use super::arrays::{bytes, column, given, Batch, Column};
use super::errors::raise;
use arrow_pyarrow::PyArrowType;
use birthmark_learn::history::{shapes, History};
use pyo3::prelude::*;

#[pyclass]
pub struct HistoryKeeper {
    pub(crate) history: History,
}

impl HistoryKeeper {
    /// The history.
    pub fn history(&self) -> &History {
        &self.history
    }
}

#[pymethods]
impl HistoryKeeper {
    #[new]
    fn new(max_keys: usize) -> PyResult<HistoryKeeper> {
        let history = History::new(max_keys).map_err(raise)?;
        Ok(HistoryKeeper { history })
    }

    #[staticmethod]
    fn from_batch(batch: Batch, max_keys: usize, clock: i64) -> PyResult<HistoryKeeper> {
        let history = History::from_batch(&batch.0, max_keys, clock).map_err(raise)?;
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

    #[pyo3(signature = (lives, behind = 0))]
    fn follow(&mut self, py: Python<'_>, lives: Batch, behind: i64) -> PyResult<Column> {
        given(py.detach(|| self.history.follow(&lives.0, behind.max(0))))
    }

    fn at(&self, py: Python<'_>, creates: Batch) -> PyResult<Column> {
        given(py.detach(|| self.history.at(&creates.0)))
    }

    fn to_batch(&self) -> PyResult<Batch> {
        self.history.to_batch().map(PyArrowType).map_err(raise)
    }
}

#[pyfunction]
pub fn fold_shapes(py: Python<'_>, names: Column) -> PyResult<Column> {
    let names = bytes(names, "names")?;
    Ok(column(py.detach(|| shapes(&names))))
}
