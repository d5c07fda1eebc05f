//! `Answerer` and `Tally`, for Python.

use super::arrays::{columns, Batch, Column};
use super::certainty::Columns;
use super::errors::{raise, BROKEN, NO_BYTES, NO_CERTAINTY, OTHER_LEVELS};
use super::invalid::invalid;
use super::live::PySharedHistory;
use arrow_array::cast::AsArray;
use arrow_array::make_array;
use arrow_array::types::UInt8Type;
use arrow_pyarrow::PyArrowType;
use birthmark_answer::{
    self as answer, Answered, Answerer, Fault, Levels, Model, Shape, Table, Tallies, Tally,
    Threshold,
};
use birthmark_contract::create::Asked;
use birthmark_contract::told::Told;
use birthmark_image::Image;
use birthmark_learn::certainty::Certainty;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;

/// Bodies that are read and answered before another thread could take over.
const SMALL: usize = 4096;

#[pyclass(name = "Tally", frozen)]
#[derive(Default)]
pub struct PyTally {
    tally: Tally,
}

#[pymethods]
impl PyTally {
    #[new]
    fn new() -> PyTally {
        PyTally::default()
    }

    fn take(&self) -> BTreeMap<String, (u64, u64)> {
        self.tally.take()
    }
}

/// An answer in JSON, of how many files, and what the live history told of them.
type Answer<'py> = (Bound<'py, PyBytes>, u64, Bound<'py, PyBytes>);

#[pyclass(name = "Answerer", frozen)]
pub struct PyAnswerer {
    answerer: Answerer,
}

#[pymethods]
impl PyAnswerer {
    #[new]
    #[pyo3(signature = (
        image, model, abstaining, tallies, certainty=Vec::new(), levels=Vec::new(), live=None,
        knows_history=[true; Told::ALL.len()]
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        image: Column,
        model: (String, String, String),
        abstaining: Vec<String>,
        tallies: (PyRef<'_, PyTally>, PyRef<'_, PyTally>),
        certainty: Vec<String>,
        levels: Vec<Column>,
        live: Option<PyRef<'_, PySharedHistory>>,
        knows_history: [bool; Told::ALL.len()],
    ) -> PyResult<PyAnswerer> {
        let image = open(py, image)?;
        let images = levels.into_iter().map(|level| open(py, level)).collect::<PyResult<_>>()?;
        let keys = keys_of(&image);
        let told = !certainty.is_empty();
        let levels = told.then(|| read_levels(&keys, &certainty, &abstaining, images));
        let (model, kind, point) = model;
        let model = Model { model, kind, point, knows_history };
        let tallies = Tallies { answers: &tallies.0.tally, told: &tallies.1.tally };
        let live = live.map(|live| live.live.clone());
        let answerer =
            Answerer::new(image, &model, &abstaining, tallies, levels.transpose()?, live);
        Ok(PyAnswerer { answerer: answerer.map_err(|error| BROKEN.because(error))? })
    }

    #[getter]
    fn predicates(&self) -> Vec<String> {
        keys_of(self.answerer.image())
    }

    fn set_thresholds(&self, thresholds: Vec<(String, usize, u32, bool)>) -> PyResult<()> {
        let keys = keys_of(self.answerer.image());
        let placed = |(key, told, sum, regained): &(String, usize, u32, bool)| {
            let place = keys.iter().position(|own| own == key)?;
            let known = *told < Told::ALL.len();
            known.then_some(Threshold { place, told: *told, sum: *sum, regained: *regained })
        };
        let placed: Option<Vec<_>> = thresholds.iter().map(placed).collect();
        let other =
            || OTHER_LEVELS.because("expected the image's predicates, and what may be told");
        self.answerer.set_thresholds(&placed.ok_or_else(other)?);
        Ok(())
    }

    fn json<'py>(&self, py: Python<'py>, body: &[u8]) -> PyResult<Answer<'py>> {
        let Answered { json, files, seen } = read(py, body.len(), || self.answerer.json(body))?;
        Ok((PyBytes::new(py, &json), files, PyBytes::new(py, &seen)))
    }

    fn hint(&self, py: Python<'_>, body: &[u8]) -> PyResult<u8> {
        read(py, body.len(), || self.answerer.hint(body))
    }

    fn columns(&self, py: Python<'_>, creates: Batch, counted: bool) -> PyResult<Vec<Column>> {
        columns(py.detach(|| self.answerer.columns(&creates.0, counted)))
    }

    fn said(&self, py: Python<'_>, creates: Batch) -> PyResult<(Vec<Column>, Vec<Column>)> {
        let predicates = self.answerer.image().predicates().len();
        let mut columns = Columns::new(predicates, creates.0.num_rows());
        let said = py.detach(|| self.answerer.said(&creates.0, |said| columns.push(said)));
        let unsure = || NO_CERTAINTY.because("nothing says how sure this image is");
        said.ok_or_else(unsure)?.map_err(raise)?;
        Ok(columns.finish())
    }
}

fn keys_of(image: &Image) -> Vec<String> {
    image.predicates().iter().map(|predicate| predicate.key.clone()).collect()
}

fn open(py: Python<'_>, image: Column) -> PyResult<Image> {
    let array = make_array(image.0);
    let Some(bytes) = array.as_primitive_opt::<UInt8Type>() else {
        return Err(NO_BYTES.because("expected an array of uint8"));
    };
    let bytes = bytes.values().inner().clone();
    py.detach(|| Image::open(bytes)).map_err(raise)
}

/// What says how sure an image is whose predicates are `keys`.
fn read_levels(
    keys: &[String],
    described: &[String],
    abstaining: &[String],
    images: Vec<Image>,
) -> PyResult<Levels> {
    let read = |described: &String| Certainty::read(described, abstaining).map_err(raise);
    let certainties = described.iter().map(read).collect::<PyResult<_>>()?;
    let levels = Levels::of(certainties, images).filter(|levels| levels.keys() == keys);
    levels.ok_or_else(|| OTHER_LEVELS.because("expected images of the levels described"))
}

/// What is read of so many bytes, beside other threads where that takes long.
fn read<T: Send>(
    py: Python<'_>,
    bytes: usize,
    read: impl Send + FnOnce() -> Result<T, Fault>,
) -> PyResult<T> {
    let found = match bytes {
        ..SMALL => read(),
        _ => py.detach(read),
    };
    found.map_err(|fault| invalid(py, fault))
}

#[pyfunction]
#[pyo3(signature = (bodies, hints=false))]
pub fn requested(py: Python<'_>, bodies: Vec<PyBackedBytes>, hints: bool) -> PyResult<Batch> {
    let mut table = Table::new(if hints { Asked::Hints } else { Asked::Files });
    let add = || bodies.iter().try_for_each(|body| table.add(body, |_| {}).map(drop));
    read(py, bodies.iter().map(|body| body.len()).sum(), add)?;
    table.finish().map(PyArrowType).map_err(raise)
}

/// The names of a body's files: each one's member, and its value in JSON.
type Names = Vec<(String, String)>;

#[pyfunction]
pub fn files_of(py: Python<'_>, body: &[u8]) -> PyResult<(Batch, Names, bool)> {
    let (mut table, mut names) = (Table::new(Asked::Files), Names::new());
    let add = || {
        table.add(body, |file| {
            let (form, name) = file.echo();
            names.push((format!("name{form}"), name.to_owned()));
        })
    };
    let shape = read(py, body.len(), add)?;
    let creates = table.finish().map_err(raise)?;
    Ok((PyArrowType(creates), names, shape == Shape::List))
}

#[pyfunction]
pub fn check_object(py: Python<'_>, body: &[u8], known: Vec<String>) -> PyResult<()> {
    read(py, body.len(), || answer::check_object(body, &known))
}
