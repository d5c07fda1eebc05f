//! `LivesBuilder`: the files and names tables, for Python.

use super::errors::raise;
use arrow_array::RecordBatch;
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use birthmark_tables::lives::{Lives, NEAR};
use pyo3::prelude::*;

#[pyclass]
pub struct LivesBuilder {
    lives: Lives,
}

#[pymethods]
impl LivesBuilder {
    #[new]
    #[pyo3(signature = (max_live = 200_000, near = NEAR))]
    fn new(max_live: usize, near: i64) -> LivesBuilder {
        LivesBuilder { lives: Lives::new(max_live, near.max(0)) }
    }

    fn update(&mut self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        let batch = RecordBatch::from_pyarrow_bound(batch)?;
        py.detach(|| self.lives.update(&batch)).map_err(raise)
    }

    fn update_loss(&mut self, gaps: &Bound<'_, PyAny>) -> PyResult<()> {
        let gaps = RecordBatch::from_pyarrow_bound(gaps)?;
        self.lives.update_loss(&gaps).map_err(raise)
    }

    fn loss_told(&mut self, told: bool) {
        self.lives.loss_told(told);
    }

    fn finish(&mut self) {
        self.lives.finish();
    }

    fn take_files<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let batch = py.detach(|| self.lives.take_files()).map_err(raise)?;
        batch.to_pyarrow(py)
    }

    fn take_names<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let batch = py.detach(|| self.lives.take_names()).map_err(raise)?;
        batch.to_pyarrow(py)
    }
}
