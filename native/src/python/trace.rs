//! `birthmark._native.Trace`: a trace decoded in a thread of its own, batch by batch.

use crate::capture::CaptureCounts;
use crate::join::{Counts, Tally};
use crate::messages;
use crate::quarantine::Damaged;
use crate::schema::{self, Op};
use crate::trace::{Trace, TraceCounts, TraceError};
use arrow_array::RecordBatch;
use arrow_pyarrow::ToPyArrow;
use crossbeam_channel::{bounded, Receiver};
use pyo3::exceptions::{PyIsADirectoryError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use std::io;
use std::path::PathBuf;
use std::thread;

/// Batches decoded ahead of the reader.
const AHEAD: usize = 2;

enum Item {
    Batch(RecordBatch, RecordBatch, Vec<Damaged>),
    End(Box<TraceCounts>, RecordBatch, Vec<Damaged>),
    Failed(TraceError),
}

#[pyclass(name = "Trace", module = "birthmark._native")]
struct PyTrace {
    path: String,
    #[pyo3(get)]
    format: &'static str,
    #[pyo3(get)]
    compression: &'static str,
    items: Receiver<Item>,
    damaged: Vec<Damaged>,
    messages: Vec<RecordBatch>,
    counts: Option<Box<TraceCounts>>,
}

pub(super) fn raise(path: &str, error: TraceError) -> PyErr {
    let message = format!("{path}: {error}");
    match error {
        TraceError::Io(error) if error.kind() == io::ErrorKind::IsADirectory => {
            PyIsADirectoryError::new_err(format!("{path}: is a directory; expected a trace file"))
        }
        TraceError::Io(error) => match error.raw_os_error() {
            Some(code) => {
                let text = error.to_string();
                let reason = text.trim_end_matches(&format!(" (os error {code})")).to_owned();
                PyOSError::new_err((code, reason, path.to_owned()))
            }
            None => PyOSError::new_err(message),
        },
        TraceError::Arrow(_) => PyRuntimeError::new_err(message),
        _ => PyValueError::new_err(message),
    }
}

#[pymethods]
impl PyTrace {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<PyTrace> {
        let shown = path.display().to_string();
        let mut trace = py.detach(|| Trace::open(&path)).map_err(|error| raise(&shown, error))?;
        let (format, compression) = (trace.format.word(), trace.compression.word());
        let (sender, items) = bounded(AHEAD);
        thread::spawn(move || loop {
            let item = match trace.next_batch().and_then(|next| Ok((next, trace.take_messages()?)))
            {
                Ok((Some(batch), messages)) => Item::Batch(batch, messages, trace.take_damaged()),
                Ok((None, messages)) => {
                    Item::End(Box::new(trace.counts()), messages, trace.take_damaged())
                }
                Err(error) => Item::Failed(error),
            };
            let last = !matches!(item, Item::Batch(..));
            if sender.send(item).is_err() || last {
                return;
            }
        });
        let (damaged, messages) = (Vec::new(), Vec::new());
        Ok(PyTrace { path: shown, format, compression, items, damaged, messages, counts: None })
    }

    fn next_batch<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.counts.is_some() {
            return Ok(None);
        }
        let items = &self.items;
        match py.detach(|| items.recv()) {
            Ok(Item::Batch(batch, messages, damaged)) => {
                self.damaged.extend(damaged);
                self.messages.push(messages);
                batch.to_pyarrow(py).map(Some)
            }
            Ok(Item::End(counts, messages, damaged)) => {
                self.damaged.extend(damaged);
                self.messages.push(messages);
                self.counts = Some(counts);
                Ok(None)
            }
            Ok(Item::Failed(error)) => Err(raise(&self.path, error)),
            Err(_) => Err(PyRuntimeError::new_err(format!("{}: decoding has ended", self.path))),
        }
    }

    fn take_damaged<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for record in self.damaged.drain(..) {
            let item = PyDict::new(py);
            item.set_item("offset", record.offset)?;
            item.set_item("line", record.line)?;
            item.set_item("length", record.length)?;
            item.set_item("reason", record.reason)?;
            item.set_item("expected", record.expected)?;
            item.set_item("bytes", PyBytes::new(py, &record.bytes))?;
            list.append(item)?;
        }
        Ok(list)
    }

    fn take_messages<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for batch in self.messages.drain(..).filter(|batch| batch.num_rows() > 0) {
            list.append(batch.to_pyarrow(py)?)?;
        }
        Ok(list)
    }

    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some(counts) = &self.counts else {
            let message = format!("{}: counts are known at the end of the trace", self.path);
            return Err(PyRuntimeError::new_err(message));
        };
        let dict = joined(py, &counts.joined)?;
        dict.set_item("damaged", &counts.damaged)?;
        dict.set_item("records", counts.records)?;
        dict.set_item("bytes", counts.bytes)?;
        if let Some(text) = counts.text {
            dict.set_item("lines", text.lines)?;
            dict.set_item("comments", text.comments)?;
        }
        if let Some(capture) = &counts.capture {
            dict.set_item("capture", packets(py, capture)?)?;
        }
        Ok(dict)
    }
}

fn joined<'py>(py: Python<'py>, counts: &Counts) -> PyResult<Bound<'py, PyDict>> {
    let procedures = PyDict::new(py);
    for (op, tally) in Op::ALL.iter().zip(&counts.procedures) {
        if *tally == Tally::default() {
            continue;
        }
        let item = PyDict::new(py);
        for (key, value) in [
            ("calls", tally.calls),
            ("replies", tally.replies),
            ("ok", tally.ok),
            ("errors", tally.errors),
            ("operations", tally.operations),
            ("unanswered", tally.unanswered),
        ] {
            item.set_item(key, value)?;
        }
        procedures.set_item(op.word(), item)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("procedures", procedures)?;
    dict.set_item("orphans", &counts.orphans)?;
    dict.set_item("other_programs", &counts.other)?;
    dict.set_item("retransmits", counts.retransmits)?;
    dict.set_item("duplicate_replies", counts.duplicate_replies)?;
    dict.set_item("short", counts.short)?;
    dict.set_item("period", counts.period)?;
    Ok(dict)
}

fn packets<'py>(py: Python<'py>, counts: &CaptureCounts) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in [
        ("packets", counts.packets),
        ("bytes", counts.bytes),
        ("cut_packets", counts.cut_packets),
        ("fragments", counts.fragments),
        ("incomplete_datagrams", counts.incomplete_datagrams),
        ("other_packets", counts.other_packets),
        ("messages", counts.messages),
        ("damaged_stretches", counts.damaged_stretches),
        ("holes", counts.holes),
        ("missing_bytes", counts.missing_bytes),
        ("resyncs", counts.resyncs),
        ("skipped_bytes", counts.skipped_bytes),
    ] {
        dict.set_item(key, value)?;
    }
    Ok(dict)
}

#[pyfunction]
fn messages_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    messages::schema().to_pyarrow(py)
}

#[pyfunction]
fn operations_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    schema::operations().to_pyarrow(py)
}

/// Adds what this file defines.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTrace>()?;
    module.add_function(wrap_pyfunction!(messages_schema, module)?)?;
    module.add_function(wrap_pyfunction!(operations_schema, module)?)
}
