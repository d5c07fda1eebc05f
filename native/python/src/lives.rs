//! `LivesBuilder`: the files and names tables, for Python.

use super::arrays::Batch;
use super::errors::raise;
use arrow_pyarrow::PyArrowType;
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

    fn update(&mut self, py: Python<'_>, batch: Batch) -> PyResult<()> {
        py.detach(|| self.lives.update(&batch.0)).map_err(raise)
    }

    fn update_loss(&mut self, gaps: Batch) -> PyResult<()> {
        self.lives.update_loss(&gaps.0).map_err(raise)
    }

    fn loss_told(&mut self, told: bool) {
        self.lives.loss_told(told);
    }

    fn finish(&mut self) {
        self.lives.finish();
    }

    fn take_files(&mut self, py: Python<'_>) -> PyResult<Batch> {
        py.detach(|| self.lives.take_files()).map(PyArrowType).map_err(raise)
    }

    fn take_names(&mut self, py: Python<'_>) -> PyResult<Batch> {
        py.detach(|| self.lives.take_names()).map(PyArrowType).map_err(raise)
    }
}
