//! `birthmark_native.Trace` and `Chunk`: a trace decoded in a thread, chunk by chunk.

use super::arrays::Batch;
use super::errors::{raise_at, BROKEN, NOT_YET};
use arrow_array::RecordBatch;
use arrow_pyarrow::{PyArrowType, ToPyArrow};
use birthmark_trace::decoder::DecoderCounts;
use birthmark_trace::join::{Counts, Tally};
use birthmark_trace::quarantine::Damaged;
use birthmark_trace::schema::{self, Op};
use birthmark_trace::trace::{Chunk, Trace, TraceCounts, TraceError};
use crossbeam_channel::{bounded, Receiver};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyList};
use std::path::PathBuf;
use std::thread;

/// Chunks decoded ahead of the reader.
const AHEAD: usize = 2;

enum Item {
    Chunk(Chunk),
    End(Box<TraceCounts>),
    Failed(TraceError),
}

impl Item {
    fn next(trace: &mut Trace) -> Item {
        match trace.next_chunk() {
            Ok(Some(chunk)) => Item::Chunk(chunk),
            Ok(None) => Item::End(Box::new(trace.counts())),
            Err(error) => Item::Failed(error),
        }
    }
}

#[pyclass(name = "Chunk", module = "birthmark_native", frozen)]
pub struct PyChunk(pub Chunk);

/// Batches for Python.
pub fn batches(of: &[RecordBatch]) -> Vec<Batch> {
    of.iter().cloned().map(PyArrowType).collect()
}

#[pymethods]
impl PyChunk {
    #[getter]
    fn operations(&self) -> Vec<Batch> {
        batches(&self.0.operations)
    }

    #[getter]
    fn messages(&self) -> Vec<Batch> {
        batches(&self.0.messages)
    }

    #[getter]
    fn loss(&self) -> Vec<Batch> {
        batches(&self.0.loss)
    }

    #[getter]
    fn gaps(&self) -> Vec<Batch> {
        batches(&self.0.gaps)
    }

    #[getter]
    fn damaged<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        set_aside(py, &self.0.damaged)
    }
}

#[pyclass(name = "Trace", module = "birthmark_native")]
pub struct PyTrace {
    path: PathBuf,
    #[pyo3(get)]
    format: &'static str,
    #[pyo3(get)]
    compression: &'static str,
    heading: Option<Vec<u8>>,
    items: Receiver<Item>,
    counts: Option<Box<TraceCounts>>,
}

#[pymethods]
impl PyTrace {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<PyTrace> {
        let mut trace = py.detach(|| Trace::open(&path)).map_err(|error| raise_at(&path, error))?;
        let (format, compression) = (trace.format.word, trace.compression.word());
        let heading = trace.heading.take();
        let (sender, items) = bounded(AHEAD);
        thread::spawn(move || loop {
            let item = Item::next(&mut trace);
            let last = !matches!(item, Item::Chunk(..));
            if sender.send(item).is_err() || last {
                return;
            }
        });
        Ok(PyTrace { path, format, compression, heading, items, counts: None })
    }

    #[getter]
    fn heading<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.heading.as_deref().map(|line| PyBytes::new(py, line))
    }

    fn next_chunk(&mut self, py: Python<'_>) -> PyResult<Option<PyChunk>> {
        if self.counts.is_some() {
            return Ok(None);
        }
        let items = &self.items;
        match py.detach(|| items.recv()) {
            Ok(Item::Chunk(chunk)) => Ok(Some(PyChunk(chunk))),
            Ok(Item::End(counts)) => {
                self.counts = Some(counts);
                Ok(None)
            }
            Ok(Item::Failed(error)) => Err(raise_at(&self.path, error)),
            Err(_) => {
                Err(BROKEN.because(format_args!("{}: decoding has ended", self.path.display())))
            }
        }
    }

    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some(counts) = &self.counts else {
            let path = self.path.display();
            let message = format_args!("{path}: counts are known at the end of the trace");
            return Err(NOT_YET.because(message));
        };
        counted(py, counts, self.format)
    }
}

#[pyfunction]
pub fn operations_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    schema::operations().to_pyarrow(py)
}

/// Converts damaged records for Python.
fn set_aside<'py>(py: Python<'py>, records: &[Damaged]) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for record in records {
        let item = PyDict::new(py);
        item.set_item("offset", record.offset)?;
        item.set_item("line", record.line)?;
        item.set_item("length", record.length)?;
        item.set_item("reason", record.reason)?;
        item.set_item("expected", &record.expected)?;
        item.set_item("bytes", PyBytes::new(py, &record.bytes))?;
        list.append(item)?;
    }
    Ok(list)
}

/// Converts the counts of a trace of a format for Python.
pub fn counted<'py>(
    py: Python<'py>,
    counts: &TraceCounts,
    format: &'static str,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = joined(py, &counts.joined)?;
    dict.set_item("damaged", &counts.damaged)?;
    dict.set_item("records", counts.read.records)?;
    dict.set_item("bytes", counts.bytes)?;
    if let Some(lines) = &counts.read.lines {
        dict.set_item("lines", lines.lines)?;
        dict.set_item("comments", lines.comments)?;
    }
    if !counts.read.details.is_empty() {
        let details = counts.read.details.clone().into_py_dict(py)?;
        details.set_item("unread", unread(py, &counts.read)?)?;
        details.set_item("offered_versions", counts.read.offered)?;
        dict.set_item(format, details)?;
    }
    Ok(dict)
}

/// Converts the unreadable traffic, by reason, for Python.
fn unread<'py>(py: Python<'py>, read: &DecoderCounts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (reason, count, bytes) in &read.unread {
        dict.set_item(reason, [("count", count), ("bytes", bytes)].into_py_dict(py)?)?;
    }
    Ok(dict)
}

fn joined<'py>(py: Python<'py>, counts: &Counts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("procedures", tallied(py, &counts.procedures)?)?;
    dict.set_item("compound_operations", tallied(py, &counts.operations)?)?;
    dict.set_item("not_run", &counts.not_run)?;
    dict.set_item("orphans", &counts.orphans)?;
    dict.set_item("other_programs", &counts.other)?;
    dict.set_item("retransmits", counts.retransmits)?;
    dict.set_item("duplicate_replies", counts.duplicate_replies)?;
    dict.set_item("short", counts.short)?;
    dict.set_item("evicted", &counts.evicted)?;
    dict.set_item("period", counts.period)?;
    Ok(dict)
}

fn tallied<'py>(py: Python<'py>, tallies: &[Tally]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (op, tally) in Op::ALL.iter().zip(tallies) {
        if *tally == Tally::default() {
            continue;
        }
        let counts = [
            ("calls", tally.calls),
            ("replies", tally.replies),
            ("ok", tally.ok),
            ("errors", tally.errors),
            ("operations", tally.operations),
            ("unanswered", tally.unanswered),
        ];
        dict.set_item(op.word(), counts.into_py_dict(py)?)?;
    }
    Ok(dict)
}
