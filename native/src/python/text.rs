//! `TextWriter`: nfsdump text from the operations table, for Python.

use crate::text::write::TextWriter;
use arrow_array::RecordBatch;
use arrow_pyarrow::FromPyArrow;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

#[pyclass(name = "TextWriter", module = "birthmark._native")]
pub struct PyTextWriter(TextWriter);

#[pymethods]
impl PyTextWriter {
    #[new]
    #[pyo3(signature = (all_attributes = false))]
    fn new(all_attributes: bool) -> PyTextWriter {
        PyTextWriter(TextWriter::new(all_attributes))
    }

    fn write<'py>(
        &mut self,
        py: Python<'py>,
        batch: &Bound<'_, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let batch = RecordBatch::from_pyarrow_bound(batch)?;
        let text = py.detach(|| self.0.write(&batch));
        let text = text.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &text))
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let text = py.detach(|| self.0.finish());
        PyBytes::new(py, &text)
    }

    #[getter]
    fn left_out(&self) -> u64 {
        self.0.left_out
    }
}
