//! `Image`, for Python.

use super::errors::raise;
use arrow_array::{Array, RecordBatch};
use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow, PyArrowType};
use birthmark_image::{self as image, Image};
use pyo3::prelude::*;

#[pyclass(name = "Image", frozen)]
pub struct PyImage {
    image: Image,
    #[pyo3(get)]
    size: usize,
}

#[pymethods]
impl PyImage {
    #[new]
    fn new(py: Python<'_>, content: &[u8]) -> PyResult<PyImage> {
        let image = py.detach(|| Image::read(content)).map_err(raise)?;
        Ok(PyImage { image, size: content.len() })
    }

    #[getter]
    fn predicates(&self) -> Vec<String> {
        let keys = self.image.predicates().iter();
        keys.map(|predicate| String::from_utf8_lossy(&predicate.key).into_owned()).collect()
    }

    #[getter]
    fn abstained(&self) -> Vec<String> {
        let keys = self.image.predicates().iter().filter(|predicate| predicate.abstains);
        keys.map(|predicate| String::from_utf8_lossy(&predicate.key).into_owned()).collect()
    }

    fn predict(
        &self,
        py: Python<'_>,
        creates: &Bound<'_, PyAny>,
    ) -> PyResult<Vec<PyArrowType<ArrayData>>> {
        let creates = RecordBatch::from_pyarrow_bound(creates)?;
        let answers = py.detach(|| image::predict(&self.image, &creates)).map_err(raise)?;
        Ok(answers.iter().map(|column| PyArrowType(column.to_data())).collect())
    }
}
