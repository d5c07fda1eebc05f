//! `CaptureWriter`: operations into a pcap file, for Python.

use arrow_array::RecordBatch;
use arrow_pyarrow::FromPyArrow;
use birthmark_trace::capture::write::{self, WriteError};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

type Writer = write::CaptureWriter<BufWriter<File>>;

#[pyclass(name = "CaptureWriter", module = "birthmark_native")]
pub struct PyCaptureWriter {
    path: String,
    writer: Option<Writer>,
}

#[pymethods]
impl PyCaptureWriter {
    #[new]
    #[pyo3(signature = (path, cut_data = false))]
    fn new(path: PathBuf, cut_data: bool) -> PyResult<PyCaptureWriter> {
        let shown = path.display().to_string();
        let opened = File::create(&path)
            .and_then(|file| Writer::new(BufWriter::with_capacity(1 << 20, file), cut_data));
        let writer = Some(opened.map_err(|error| os_error(&shown, &error))?);
        Ok(PyCaptureWriter { path: shown, writer })
    }

    fn write(&mut self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        let batch = RecordBatch::from_pyarrow_bound(batch)?;
        let Some(writer) = &mut self.writer else {
            return Err(self.ended());
        };
        let written = py.detach(|| writer.write(&batch));
        written.map_err(|error| raise(&self.path, error))
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let writer = self.writer.take().ok_or_else(|| self.ended())?;
        let finished = py.detach(|| writer.finish());
        let (_, written) = finished.map_err(|error| raise(&self.path, error))?;
        let dict = PyDict::new(py);
        dict.set_item("packets", written.packets)?;
        dict.set_item("calls", written.calls)?;
        dict.set_item("replies", written.replies)?;
        dict.set_item("skipped", written.skipped)?;
        Ok(dict)
    }
}

impl PyCaptureWriter {
    fn ended(&self) -> PyErr {
        PyRuntimeError::new_err(format!("{}: the capture has been ended", self.path))
    }
}

fn raise(path: &str, error: WriteError) -> PyErr {
    match error {
        WriteError::Io(error) => os_error(path, &error),
        WriteError::Rows(error) => PyValueError::new_err(error.to_string()),
    }
}

fn os_error(path: &str, error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(code) => {
            let text = error.to_string();
            let reason = text.trim_end_matches(&format!(" (os error {code})")).to_owned();
            PyOSError::new_err((code, reason, path.to_owned()))
        }
        None => PyOSError::new_err(format!("{path}: {error}")),
    }
}
