//! `CaptureWriter`: operations into a pcap file, for Python.

use super::arrays::Batch;
use super::errors::{raise_at, system, ENDED};
use birthmark_trace::capture::write;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

type Writer = write::CaptureWriter<BufWriter<File>>;

#[pyclass(name = "CaptureWriter", module = "birthmark_native")]
pub struct PyCaptureWriter {
    path: PathBuf,
    writer: Option<Writer>,
}

#[pymethods]
impl PyCaptureWriter {
    #[new]
    #[pyo3(signature = (path, cut_data = false))]
    fn new(path: PathBuf, cut_data: bool) -> PyResult<PyCaptureWriter> {
        let file = File::create(&path)
            .and_then(|file| Writer::new(BufWriter::with_capacity(1 << 20, file), cut_data));
        let writer = Some(file.map_err(|error| system(&path, &error))?);
        Ok(PyCaptureWriter { path, writer })
    }

    fn write(&mut self, py: Python<'_>, batch: Batch) -> PyResult<()> {
        let Some(writer) = &mut self.writer else {
            return Err(self.ended());
        };
        let written = py.detach(|| writer.write(&batch.0));
        written.map_err(|error| raise_at(&self.path, error))
    }

    fn finish<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let writer = self.writer.take().ok_or_else(|| self.ended())?;
        let finished = py.detach(|| writer.finish());
        let (_, written) = finished.map_err(|error| raise_at(&self.path, error))?;
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
        ENDED.because(format_args!("{}: the capture has been ended", self.path.display()))
    }
}
