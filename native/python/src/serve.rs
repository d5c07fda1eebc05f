//! `Answerer` and `Tally`, for Python.

use super::arrays::{columns, Batch, Column};
use super::certainty::given;
use super::errors::{raise, BROKEN, OTHER_POINT, OTHER_THRESHOLDS};
use super::invalid::invalid;
use super::live::PySharedHistory;
use arrow_buffer::Buffer;
use arrow_pyarrow::PyArrowType;
use birthmark_answer::{
    self as answer, Answer, Answerer, Fault, Model, Shape, Table, Tallies, Tally, Threshold,
    Warnings,
};
use birthmark_contract::create::Asked;
use birthmark_contract::history_scope::HistoryScope;
use birthmark_image::{Image, NEVER};
use birthmark_learn::certainty::Columns;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The operating points, by their numbers in images.
const POINTS: [&str; 2] = ["accurate", "bounded"];

/// Bodies that are answered faster than another thread could take over.
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

/// An answer in JSON, the number of files, and their answers for the log.
type PyAnswer<'py> = (Bound<'py, PyBytes>, u64, Bound<'py, PyBytes>);

#[pyclass(name = "Answerer", frozen)]
pub struct PyAnswerer {
    pub(crate) answerer: Arc<Answerer>,
}

#[pymethods]
impl PyAnswerer {
    #[new]
    #[pyo3(signature = (
        image, model, tallies, three_way=false, live=None,
        knows_history=[true; HistoryScope::ALL.len()]
    ))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        image: PyBackedBytes,
        model: (String, String, String),
        tallies: (PyRef<'_, PyTally>, PyRef<'_, PyTally>),
        three_way: bool,
        live: Option<PyRef<'_, PySharedHistory>>,
        knows_history: [bool; HistoryScope::ALL.len()],
    ) -> PyResult<PyAnswerer> {
        let mut image = py.detach(|| Image::read(&image)).map_err(raise)?;
        let (model, kind, point) = model;
        let number = POINTS.iter().position(|word| *word == point);
        image.set_point(number.ok_or_else(|| OTHER_POINT.because("expected accurate or bounded"))?);
        let model = Model { model, kind, point, knows_history };
        let tallies = Tallies { answers: &tallies.0.tally, scopes: &tallies.1.tally };
        let live = live.map(|live| live.live.clone());
        let answerer = Answerer::new(image, &model, tallies, three_way, live);
        let answerer = Arc::new(answerer.map_err(|error| BROKEN.because(error))?);
        Ok(PyAnswerer { answerer })
    }

    #[getter]
    fn predicates(&self) -> Vec<String> {
        keys_of(self.answerer.image())
    }

    fn calibrated(&self) -> HashMap<String, [u32; HistoryScope::ALL.len()]> {
        let image = self.answerer.image();
        let keys = keys_of(image).into_iter().enumerate();
        let sums = |cuts: [u16; HistoryScope::ALL.len()]| {
            cuts.map(|cut| if cut == NEVER { u32::MAX } else { cut.into() })
        };
        keys.filter_map(|(place, key)| Some((key, sums(image.calibrated(place)?)))).collect()
    }

    fn set_thresholds(&self, thresholds: Vec<(String, usize, u32)>) -> PyResult<()> {
        let keys = keys_of(self.answerer.image());
        let placed = |(key, scope, sum): &(String, usize, u32)| {
            let place = keys.iter().position(|own| own == key)?;
            let known = *scope < HistoryScope::ALL.len();
            known.then_some(Threshold { place, scope: *scope, sum: *sum })
        };
        let placed: Option<Vec<_>> = thresholds.iter().map(placed).collect();
        let other =
            || OTHER_THRESHOLDS.because("expected the image's predicates and history scopes");
        self.answerer.set_thresholds(&placed.ok_or_else(other)?);
        Ok(())
    }

    fn json<'py>(&self, py: Python<'py>, body: &[u8]) -> PyResult<PyAnswer<'py>> {
        let Answer { content, files, logged } =
            read(py, body.len(), || self.answerer.json(body, true))?;
        Ok((PyBytes::new(py, &content), files, PyBytes::new(py, &logged)))
    }

    fn hint(&self, py: Python<'_>, body: &[u8]) -> PyResult<u8> {
        read(py, body.len(), || self.answerer.hint(body))
    }

    fn columns(&self, py: Python<'_>, creates: Batch) -> PyResult<Vec<Column>> {
        columns(py.detach(|| self.answerer.columns(&creates.0)))
    }

    fn three_way_answers(
        &self,
        py: Python<'_>,
        creates: Batch,
    ) -> PyResult<(Vec<Column>, Vec<Column>)> {
        let mut columns = Columns::new(self.answerer.image().predicates().len());
        let push = |answers: &[_]| columns.push(answers);
        py.detach(|| self.answerer.three_way_answers(&creates.0, push)).map_err(raise)?;
        Ok(given(columns))
    }
}

fn keys_of(image: &Image) -> Vec<String> {
    image.predicates().iter().map(|predicate| predicate.key.clone()).collect()
}

/// Reads a body, without the interpreter lock if it is large.
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
#[pyo3(signature = (bodies, format="json"))]
pub fn requested(py: Python<'_>, bodies: Vec<PyBackedBytes>, format: &str) -> PyResult<Batch> {
    let mut table = Table::new(if format == "hint" { Asked::Hints } else { Asked::Files });
    let add = || {
        bodies.iter().try_for_each(|body| match format {
            "arrow" => table.add_arrow(&Buffer::from(&**body)),
            _ => table.add(body, |_| {}).map(drop),
        })
    };
    read(py, bodies.iter().map(|body| body.len()).sum(), add)?;
    table.finish().map(PyArrowType).map_err(raise)
}

/// The names of a body's files: each one's member, and its value in JSON.
type Names = Vec<(String, String)>;

#[pyfunction]
pub fn files_of(py: Python<'_>, body: &[u8]) -> PyResult<(Batch, Names, bool, Vec<String>)> {
    let (mut table, mut names) = (Table::new(Asked::Files), Names::new());
    let mut warnings = Warnings::default();
    let add = || {
        table.add(body, |file| {
            let (form, name) = file.echo();
            names.push((format!("name{form}"), name.to_owned()));
            warnings.add(file);
        })
    };
    let shape = read(py, body.len(), add)?;
    let creates = table.finish().map_err(raise)?;
    Ok((PyArrowType(creates), names, shape == Shape::List, warnings.sentences(shape)))
}

#[pyfunction]
pub fn check_uncompressed(py: Python<'_>, stream: &[u8]) -> PyResult<()> {
    read(py, stream.len(), || answer::check_uncompressed(&Buffer::from(stream)))
}

#[pyfunction]
pub fn check_object(py: Python<'_>, body: &[u8], known: Vec<String>) -> PyResult<()> {
    read(py, body.len(), || answer::check_object(body, &known))
}
