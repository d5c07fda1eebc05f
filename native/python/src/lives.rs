//! `LivesBuilder` and `LiveHistory`: the files and names tables, for Python, and the events of
//! their births and outcomes.

use super::arrays::Batch;
use super::errors::{raise, raise_at, system, NO_SUBJECT};
use super::history::HistoryKeeper;
use arrow_pyarrow::PyArrowType;
use birthmark_tables::live_history::LiveHistory;
use birthmark_tables::lives::events::Subject;
use birthmark_tables::lives::{Error, Lives, NEAR};
use birthmark_trace::budget::{Budget, DEFAULT};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

#[pyclass]
pub struct LivesBuilder {
    lives: Lives,
}

#[pymethods]
impl LivesBuilder {
    #[new]
    #[pyo3(signature = (max_live = 200_000, near = NEAR, memory = DEFAULT))]
    fn new(max_live: usize, near: i64, memory: usize) -> LivesBuilder {
        let lives = Lives::new(max_live, near.max(0)).with_budget(Budget::new(memory));
        LivesBuilder { lives }
    }

    #[staticmethod]
    #[pyo3(signature = (path, memory = DEFAULT))]
    fn load(py: Python<'_>, path: PathBuf, memory: usize) -> PyResult<LivesBuilder> {
        let file = File::open(&path).map_err(|error| system(&path, &error))?;
        let (budget, file) = (Budget::new(memory), BufReader::with_capacity(1 << 18, file));
        let read = py.detach(|| Lives::load(file, budget));
        read.map(|lives| LivesBuilder { lives }).map_err(|error| raise_at(&path, error))
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        written(&path, |out| py.detach(|| self.lives.save(out)))
    }

    fn update(&mut self, py: Python<'_>, batch: Batch) -> PyResult<()> {
        self.lives.forget_hosts();
        py.detach(|| self.lives.update(&batch.0)).map_err(raise)
    }

    fn evicted(&self) -> BTreeMap<&'static str, u64> {
        self.lives.evicted().into()
    }

    fn update_loss(&mut self, gaps: Batch) -> PyResult<()> {
        self.lives.update_loss(&gaps.0).map_err(raise)
    }

    fn set_losses_known(&mut self, known: bool) {
        self.lives.set_losses_known(known);
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

#[pyclass(name = "LiveHistory")]
pub struct PyLiveHistory {
    pub(crate) live: LiveHistory,
}

/// Writes a file.
fn written(
    path: &Path,
    save: impl FnOnce(&mut BufWriter<File>) -> Result<(), Error>,
) -> PyResult<()> {
    let file = File::create(path).map_err(|error| system(path, &error))?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    save(&mut out).map_err(|error| raise_at(path, error))?;
    out.flush().map_err(|error| system(path, &error))
}

/// The subject for a word.
pub fn subject_of(word: &str) -> PyResult<Subject> {
    match word {
        "file" => Ok(Subject::File),
        "name" => Ok(Subject::Name),
        _ => Err(NO_SUBJECT.because(format_args!("{word:?}, expected file or name"))),
    }
}

#[pymethods]
impl PyLiveHistory {
    #[new]
    #[pyo3(signature = (
        files, names, max_live = 200_000, near = NEAR, max_awaited = 1_000_000, memory = DEFAULT
    ))]
    fn new(
        files: PyRef<'_, HistoryKeeper>,
        names: PyRef<'_, HistoryKeeper>,
        max_live: usize,
        near: i64,
        max_awaited: usize,
        memory: usize,
    ) -> PyLiveHistory {
        let lives = Lives::new(max_live, near.max(0)).with_budget(Budget::new(memory));
        let (files, names) = (files.history.clone(), names.history.clone());
        PyLiveHistory { live: LiveHistory::new(lives, files, names, max_awaited) }
    }

    #[staticmethod]
    #[pyo3(signature = (path, memory = DEFAULT))]
    fn load(py: Python<'_>, path: PathBuf, memory: usize) -> PyResult<PyLiveHistory> {
        let file = File::open(&path).map_err(|error| system(&path, &error))?;
        let budget = Budget::new(memory);
        let read = py.detach(|| LiveHistory::load(BufReader::new(file), budget));
        let live = read.map_err(|error| raise_at(&path, error))?;
        Ok(PyLiveHistory { live })
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        written(&path, |out| py.detach(|| self.live.save(out)))
    }

    fn save_histories(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        written(&path, |out| py.detach(|| self.live.save_histories(out)))
    }

    fn update(&mut self, py: Python<'_>, batch: Batch) -> PyResult<()> {
        py.detach(|| self.live.update(&batch.0)).map_err(raise)
    }

    fn evicted(&mut self) -> BTreeMap<&'static str, u64> {
        self.live.lives().evicted().into()
    }

    fn update_loss(&mut self, gaps: Batch) -> PyResult<()> {
        self.live.lives().update_loss(&gaps.0).map_err(raise)
    }

    fn set_losses_known(&mut self, known: bool) {
        self.live.lives().set_losses_known(known);
    }

    fn advance(&mut self, until: i64) {
        self.live.advance(until);
    }

    fn finish(&mut self) {
        self.live.finish();
    }

    fn take_files(&mut self, py: Python<'_>) -> PyResult<Batch> {
        py.detach(|| self.live.lives().take_files()).map(PyArrowType).map_err(raise)
    }

    fn take_names(&mut self, py: Python<'_>) -> PyResult<Batch> {
        py.detach(|| self.live.lives().take_names()).map(PyArrowType).map_err(raise)
    }

    fn take_births(&mut self) -> PyResult<Batch> {
        self.live.take_births().map(PyArrowType).map_err(raise)
    }

    fn take_outcomes(&mut self) -> PyResult<Batch> {
        self.live.take_outcomes().map(PyArrowType).map_err(raise)
    }

    fn discard(&mut self) {
        self.live.discard();
    }

    #[getter]
    fn dropped(&mut self) -> u64 {
        self.live.lives().dropped()
    }

    fn history(&self, subject: &str) -> PyResult<HistoryKeeper> {
        Ok(HistoryKeeper { history: self.live.history(subject_of(subject)?).clone() })
    }
}
