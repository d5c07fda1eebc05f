//! `SharedHistory`, `SharedHistoryWriter`, `HistoryChanges` and `handle_inode`.

use super::arrays::{column, whole, Batch, Column};
use super::errors::{raise, raise_at, NO_LIMIT, NO_STATE};
use super::history::HistoryKeeper;
use super::lives::{subject_of, PyLiveHistory};
use arrow_array::types::UInt64Type;
use arrow_pyarrow::PyArrowType;
use birthmark_contract::history_scope::HistoryScope;
use birthmark_learn::history::{records, Namer, Subject};
use birthmark_live::handles::{self, Inode};
use birthmark_live::{
    alias, batch, Asked, Changes, Clocks, Facts, Limits, Live, Place, Publisher, Report, Seen,
    StaleReason, State,
};
use birthmark_tables::lives::directories::Directory;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;

const MICROS: f64 = 1e6;

/// The histories of files and of names.
type Histories<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);
/// The answer for a create: the histories, the word of the history scope, and why there are none.
type Answer<'py> = (Option<Histories<'py>>, &'static str, Option<&'static str>);

#[pyclass(name = "SharedHistory", frozen)]
pub struct PySharedHistory {
    pub(crate) live: Arc<Live>,
}

#[pymethods]
impl PySharedHistory {
    #[new]
    fn new(path: PathBuf, max_age: f64, max_lag: f64, max_loss: f64) -> PyResult<PySharedHistory> {
        let [age, lag, loss] = [max_age, max_lag, max_loss].map(micros);
        let limits = Limits { age: age?, lag: lag?, loss: loss? };
        Ok(PySharedHistory { live: Arc::new(Live::new(&path, limits)) })
    }

    fn at(&self, py: Python<'_>, creates: Batch) -> PyResult<Batch> {
        let histories = py.detach(|| batch::tell(&self.live, &creates.0));
        histories.map(PyArrowType).map_err(raise)
    }

    #[pyo3(signature = (
        name, *, dir_fh=None, dir_inode=None, dir_path=None, dir_name=None, mode=None, uid=None,
        client=None, time=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn tell<'py>(
        &self,
        py: Python<'py>,
        name: &[u8],
        dir_fh: Option<&[u8]>,
        dir_inode: Option<(Vec<u8>, u64)>,
        dir_path: Option<&[u8]>,
        dir_name: Option<&[u8]>,
        mode: Option<u32>,
        uid: Option<u32>,
        client: Option<&str>,
        time: Option<i64>,
    ) -> Answer<'py> {
        let place = match (dir_fh, &dir_inode, dir_path) {
            (Some(handle), _, _) => Place::Handle(handle),
            (None, Some((system, fileid)), _) => Place::Inode(system, *fileid),
            (None, None, Some(path)) => Place::Path(path),
            (None, None, None) => Place::Unknown,
        };
        let asked = Asked { name: Some(name), place, dir_name, mode, uid, client, time };
        let mut seen = Seen::default();
        match self.live.tell(&asked, &mut seen) {
            Ok(found) => {
                let histories = (PyBytes::new(py, &seen.files), PyBytes::new(py, &seen.names));
                (Some(histories), found.scope.word(), None)
            }
            Err(why) => (None, HistoryScope::Nothing.word(), Some(why.word())),
        }
    }

    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let status = PyDict::new(py);
        self.live.with(|history| {
            let why = history.look(|_| ()).err();
            status.set_item("why", why.map(StaleReason::word))?;
            status.set_item("says", why.map(StaleReason::sentence))?;
            if let Ok(reader) = history.reader() {
                status.set_item("follower", reader.follower())?;
                status.set_item("generation", reader.generation())?;
                status.set_item("updates", reader.updates())?;
                if let Ok(facts) = reader.facts() {
                    add_facts(&status, &facts)?;
                }
            }
            Ok(status.clone())
        })
    }
}

fn add_facts(status: &Bound<'_, PyDict>, facts: &Facts) -> PyResult<()> {
    let Facts { report, updated, counts } = facts;
    let age = Clocks::now().monotonic.saturating_sub(updated.monotonic);
    status.set_item("state", report.state.word())?;
    status.set_item("clock", report.trace_clock)?;
    status.set_item("updated", updated.wall)?;
    status.set_item("age", age as f64 / MICROS)?;
    status.set_item("lag", report.lag as f64 / MICROS)?;
    status.set_item("loss", report.loss as f64 / MICROS)?;
    status.set_item("operations", report.operations)?;
    status.set_item("keys", counts.keys)?;
    status.set_item("keys_gave_way", counts.keys_gave_way)?;
    status.set_item("aliases", counts.aliases)?;
    status.set_item("aliases_gave_way", counts.aliases_gave_way)
}

/// Converts seconds to microseconds, or a share to millionths.
fn micros(number: f64) -> PyResult<u64> {
    if number.is_nan() || number < 0.0 {
        return Err(NO_LIMIT.because(format_args!("{number}: expected 0 or more")));
    }
    Ok((number * MICROS) as u64)
}

#[pyclass(name = "SharedHistoryWriter")]
pub struct PySharedHistoryWriter {
    publisher: Publisher,
    path: PathBuf,
    namer: Namer,
}

impl PySharedHistoryWriter {
    /// The publisher of a writable file.
    fn publisher(&mut self) -> PyResult<&mut Publisher> {
        self.publisher.check().map_err(|error| super::errors::system(&self.path, &error))?;
        Ok(&mut self.publisher)
    }
}

#[pymethods]
impl PySharedHistoryWriter {
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        max_keys: usize,
        max_aliases: usize,
        follower: &str,
    ) -> PyResult<PySharedHistoryWriter> {
        let publisher = py
            .detach(|| Publisher::create(&path, max_keys, max_aliases, follower))
            .map_err(|error| raise_at(&path, error))?;
        Ok(PySharedHistoryWriter { publisher, path, namer: Namer::default() })
    }

    #[pyo3(signature = (live, changes=None))]
    fn mirror(
        &mut self,
        py: Python<'_>,
        mut live: PyRefMut<'_, PyLiveHistory>,
        mut changes: Option<PyRefMut<'_, PyHistoryChanges>>,
    ) -> PyResult<()> {
        self.publisher()?;
        let live = &mut live.live;
        let mut copy = changes.as_mut().map(|copy| &mut copy.changes);
        py.detach(|| {
            let writer = self.publisher.writer();
            for subject in Subject::ALL {
                let changed = live.take_changed(subject);
                for key in changed.evicted.iter().map(|key| subject.key(*key)) {
                    writer.remove(key);
                    copy.iter_mut().for_each(|copy| copy.remove(key));
                }
                for (key, record) in &changed.records {
                    let key = subject.key(*key);
                    writer.put(key, record);
                    copy.iter_mut().for_each(|copy| copy.put(key, *record));
                }
            }
            let now = live.history(Subject::File).clock();
            for Directory { handle, called } in live.take_directories() {
                let (name, path) = called.map(|called| (called.name, called.path)).unzip();
                let shape = self.namer.shape(name.as_deref());
                writer.call(&handle, path.as_deref(), shape, now);
                copy.iter_mut().for_each(|copy| copy.call(&handle, path.as_deref(), shape, now));
            }
        });
        Ok(())
    }

    fn everything(&mut self, py: Python<'_>) -> PyResult<PyHistoryChanges> {
        let publisher = self.publisher()?;
        Ok(PyHistoryChanges { changes: py.detach(|| publisher.writer().everything()) })
    }

    fn apply(&mut self, py: Python<'_>, changes: &PyHistoryChanges) -> PyResult<()> {
        let publisher = self.publisher()?;
        py.detach(|| changes.changes.write(publisher.writer()));
        Ok(())
    }

    fn put(&mut self, subject: &str, known: Batch) -> PyResult<()> {
        let (subject, publisher) = (subject_of(subject)?, self.publisher()?);
        for (key, record) in records(&known.0).map_err(raise)? {
            publisher.writer().put(subject.key(key), &record);
        }
        Ok(())
    }

    fn put_all(&mut self, subject: &str, history: &HistoryKeeper) -> PyResult<()> {
        let (subject, publisher) = (subject_of(subject)?, self.publisher()?);
        for (key, record) in history.history().records() {
            publisher.writer().put(subject.key(key), &record);
        }
        Ok(())
    }

    fn remove(&mut self, subject: &str, keys: Column) -> PyResult<()> {
        let (subject, keys) = (subject_of(subject)?, whole::<UInt64Type>(keys, "keys")?);
        let writer = self.publisher()?.writer();
        keys.values().iter().for_each(|&key| writer.remove(subject.key(key)));
        Ok(())
    }

    #[pyo3(signature = (handle, *, name=None, path=None, time))]
    fn directory(
        &mut self,
        handle: &[u8],
        name: Option<&[u8]>,
        path: Option<&[u8]>,
        time: i64,
    ) -> PyResult<()> {
        let shape = self.namer.shape(name);
        self.publisher()?.writer().call(handle, path, shape, time);
        Ok(())
    }

    fn remove_path(&mut self, path: &[u8]) -> PyResult<()> {
        self.publisher()?.writer().remove_directory(alias::of_path(path));
        Ok(())
    }

    #[pyo3(signature = (clock, lag, loss, state, operations=0))]
    fn commit(
        &mut self,
        clock: i64,
        lag: f64,
        loss: f64,
        state: &str,
        operations: u64,
    ) -> PyResult<()> {
        let found = State::ALL.into_iter().find(|found| found.word() == state);
        let expected = || State::ALL.map(State::word).join(", ");
        let state = found.ok_or_else(|| {
            NO_STATE.because(format_args!("{state:?}: expected one of {}", expected()))
        })?;
        let (lag, loss) = (micros(lag)?, micros(loss)?);
        let report = Report { trace_clock: clock, lag, loss, state, operations };
        self.publisher()?.commit(report);
        Ok(())
    }

    fn publish(&mut self) -> PyResult<()> {
        self.publisher.publish().map_err(|error| super::errors::system(&self.path, &error))
    }
}

#[pyclass(name = "HistoryChanges")]
#[derive(Default)]
pub struct PyHistoryChanges {
    changes: Changes,
}

#[pymethods]
impl PyHistoryChanges {
    #[new]
    fn new() -> PyHistoryChanges {
        PyHistoryChanges::default()
    }

    #[staticmethod]
    fn from_arrow(
        py: Python<'_>,
        removed_keys: Column,
        records: Batch,
        directories: Batch,
    ) -> PyResult<PyHistoryChanges> {
        let removed_keys = whole::<UInt64Type>(removed_keys, "forgotten")?;
        let read = || Changes::from_arrow(&removed_keys, &records.0, &directories.0);
        Ok(PyHistoryChanges { changes: py.detach(read).map_err(raise)? })
    }

    fn to_arrow(&self, py: Python<'_>) -> PyResult<(Column, Batch, Batch)> {
        let arrays = py.detach(|| self.changes.to_arrow());
        let (removed, records, directories) = arrays.map_err(raise)?;
        Ok((column(removed), PyArrowType(records), PyArrowType(directories)))
    }

    fn merge(&mut self, later: PyRef<'_, PyHistoryChanges>) {
        self.changes.merge(&later.changes);
    }

    fn take(&mut self, rows: usize) -> PyHistoryChanges {
        PyHistoryChanges { changes: self.changes.take(rows) }
    }

    fn __len__(&self) -> usize {
        self.changes.rows()
    }
}

#[pyfunction]
pub fn handle_inode<'py>(py: Python<'py>, handle: &[u8]) -> Option<(Bound<'py, PyBytes>, u64)> {
    let Inode { system, fileid } = handles::inode(handle)?;
    Some((PyBytes::new(py, system), fileid))
}
