//! `Image`, for Python.

use super::arrays::{columns, Batch, Column};
use super::errors::raise;
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
        self.image.predicates().iter().map(|predicate| predicate.key.clone()).collect()
    }

    #[getter]
    fn abstained(&self) -> Vec<String> {
        let abstained = self.image.predicates().iter().filter(|predicate| predicate.abstains);
        abstained.map(|predicate| predicate.key.clone()).collect()
    }

    fn predict(&self, py: Python<'_>, creates: Batch) -> PyResult<Vec<Column>> {
        columns(py.detach(|| image::predict(&self.image, &creates.0)))
    }
}
