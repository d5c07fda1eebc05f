//! `TextWriter` and `TraceLines`: nfsdump text from the tables and from traces, for Python.

use super::arrays::Batch;
use super::errors::{raise, raise_at, BROKEN, NOT_YET};
use super::trace::counted;
use birthmark_trace::text::write::TextWriter;
use birthmark_trace::trace::{Trace, TraceCounts, TraceError};
use crossbeam_channel::{bounded, Receiver, RecvTimeoutError, Sender};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

#[pyclass(name = "TextWriter", module = "birthmark_native")]
pub struct PyTextWriter(TextWriter);

#[pymethods]
impl PyTextWriter {
    #[new]
    #[pyo3(signature = (all_attributes = false))]
    fn new(all_attributes: bool) -> PyTextWriter {
        PyTextWriter(TextWriter::new(all_attributes))
    }

    fn write<'py>(&mut self, py: Python<'py>, batch: Batch) -> PyResult<Bound<'py, PyBytes>> {
        let text = py.detach(|| self.0.write(&batch.0)).map_err(raise)?;
        Ok(PyBytes::new(py, &text))
    }

    fn messages<'py>(&mut self, py: Python<'py>, batch: Batch) -> PyResult<Bound<'py, PyBytes>> {
        let text = py.detach(|| self.0.messages(&batch.0)).map_err(raise)?;
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

/// Chunks of lines printed ahead of the reader.
const AHEAD: usize = 4;

/// The interval of checks for signals while a trace gives nothing.
const PATIENCE: Duration = Duration::from_millis(100);

enum Chunk {
    Lines(Vec<u8>),
    End(u64, &'static str, Box<TraceCounts>),
    Failed(TraceError),
}

#[pyclass(name = "TraceLines", module = "birthmark_native")]
pub struct PyTraceLines {
    path: PathBuf,
    chunks: Receiver<Chunk>,
    ended: bool,
    #[pyo3(get)]
    left_out: u64,
    counts: Option<(&'static str, Box<TraceCounts>)>,
}

#[pymethods]
impl PyTraceLines {
    #[new]
    #[pyo3(signature = (path, all_attributes = false))]
    fn new(path: PathBuf, all_attributes: bool) -> PyTraceLines {
        let read = path.clone();
        let (sender, chunks) = bounded(AHEAD);
        thread::spawn(move || {
            let last = match print(&read, all_attributes, sender.clone()) {
                Ok(trace) => {
                    Chunk::End(trace.left_out(), trace.format.word, Box::new(trace.counts()))
                }
                Err(error) => Chunk::Failed(error),
            };
            let _ = sender.send(last); // without a reader nobody needs it
        });
        PyTraceLines { path, chunks, ended: false, left_out: 0, counts: None }
    }

    fn next_lines<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        while !self.ended {
            let chunks = &self.chunks;
            match py.detach(|| chunks.recv_timeout(PATIENCE)) {
                Ok(Chunk::Lines(lines)) => return Ok(Some(PyBytes::new(py, &lines))),
                Ok(Chunk::End(left_out, format, counts)) => {
                    (self.left_out, self.ended) = (left_out, true);
                    self.counts = Some((format, counts));
                }
                Ok(Chunk::Failed(error)) => {
                    self.ended = true;
                    return Err(raise_at(&self.path, error));
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) => {
                    let path = self.path.display();
                    return Err(BROKEN.because(format_args!("{path}: decoding has ended")));
                }
            }
        }
        Ok(None)
    }

    #[getter]
    fn damaged(&self) -> BTreeMap<&'static str, u64> {
        self.counts.as_ref().map(|(_, counts)| counts.damaged.clone()).unwrap_or_default()
    }

    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some((format, counts)) = &self.counts else {
            let path = self.path.display();
            return Err(NOT_YET.because(format_args!("{path}: counts are known at its end")));
        };
        counted(py, counts, format)
    }
}

/// Prints a trace, chunk by chunk, while somebody takes them.
fn print(path: &Path, all: bool, sender: Sender<Chunk>) -> Result<Trace, TraceError> {
    let wanted = Arc::new(AtomicBool::new(true));
    let still = wanted.clone();
    let taker = move |lines| {
        if sender.send(Chunk::Lines(lines)).is_err() {
            wanted.store(false, Ordering::Relaxed);
        }
    };
    let mut trace = Trace::open_to_print(path, all, Box::new(taker))?;
    trace.print(|| still.load(Ordering::Relaxed))?;
    Ok(trace)
}
