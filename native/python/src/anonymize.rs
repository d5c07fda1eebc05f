//! `Mapping` and `TextRewriter`: anonymized traces, for Python.

use super::arrays::Batch;
use super::errors::{raise, raise_at, system, NO_TEXT, NO_TREATMENT};
use arrow_pyarrow::PyArrowType;
use birthmark_tables::anonymize::mapping::{Mapping, Omit, Settings};
use birthmark_tables::anonymize::output::Output;
use birthmark_tables::anonymize::tables::{Treatment, Treatments};
use birthmark_tables::anonymize::text::Rewriter;
use birthmark_tables::anonymize::Error;
use birthmark_trace::input::Input;
use birthmark_trace::text::{heading, FORMAT};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;

/// Bytes of text mapped between checks for Python's signals.
const STEP: usize = 1 << 23;

#[pyclass(name = "Mapping", module = "birthmark_native")]
pub struct PyMapping {
    mapping: Mapping,
}

#[pymethods]
impl PyMapping {
    #[new]
    #[pyo3(signature = (prefix, handles, omit, seed = None))]
    fn new(prefix: bool, handles: bool, omit: Vec<String>, seed: Option<u64>) -> PyResult<Self> {
        let settings = settings(prefix, handles, &omit);
        let mapping = Mapping::new(settings, seed).map_err(|error| raise(Error::from(error)))?;
        Ok(PyMapping { mapping })
    }

    #[staticmethod]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        prefix: bool,
        handles: bool,
        omit: Vec<String>,
    ) -> PyResult<PyMapping> {
        let settings = settings(prefix, handles, &omit);
        let read = py.detach(|| Mapping::read(&path, settings));
        let mapping = read.map_err(|error| raise_at(&path, error))?;
        Ok(PyMapping { mapping })
    }

    fn keep(&mut self, kind: &str, what: &[u8]) -> PyResult<()> {
        self.mapping.keep(kind, what).map_err(raise)
    }

    fn write(&self, py: Python<'_>, path: PathBuf, settings: &str) -> PyResult<()> {
        py.detach(|| self.mapping.write(&path, settings)).map_err(|error| system(&path, &error))
    }

    fn sizes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.mapping.sizes().into_py_dict(py)
    }

    fn name(&mut self, name: &[u8]) -> PyResult<Vec<u8>> {
        let mut out = Vec::new();
        self.mapping.name(name, &mut out).map_err(|error| raise(Error::from(error)))?;
        Ok(out)
    }

    fn batch(
        &mut self,
        py: Python<'_>,
        batch: Batch,
        treatments: HashMap<String, String>,
    ) -> PyResult<Batch> {
        let treatments: Option<Treatments> = treatments
            .into_iter()
            .map(|(column, word)| Some((column, Treatment::of(&word)?)))
            .collect();
        let unknown = || NO_TREATMENT.because("unknown treatment");
        let treatments = treatments.ok_or_else(unknown)?;
        let mapped = py.detach(|| self.mapping.batch(&batch.0, &treatments));
        mapped.map(PyArrowType).map_err(raise)
    }
}

/// Text traces into one file of text.
#[pyclass(module = "birthmark_native")]
pub struct TextRewriter {
    rewriter: Rewriter,
    /// Locked, since Python may use the object in any thread.
    input: Mutex<Option<Input>>,
    output: Output,
    out: PathBuf,
}

#[pymethods]
impl TextRewriter {
    #[new]
    fn new(out: PathBuf, suffix: &str) -> PyResult<TextRewriter> {
        let output = Output::create(&out, suffix).map_err(|error| system(&out, &error))?;
        Ok(TextRewriter { rewriter: Rewriter::default(), input: Mutex::default(), output, out })
    }

    fn open<'py>(
        &mut self,
        py: Python<'py>,
        path: PathBuf,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let reader = py.detach(|| birthmark_source::open(&path));
        let (_, reader) = reader.map_err(|error| system(&path, &error))?;
        let mut input = Input::new(reader);
        let zeros = py.detach(|| input.skip_zeros());
        let first = py.detach(|| input.peek(FORMAT.first));
        if !(FORMAT.begins)(first) {
            let path = path.display();
            return Err(NO_TEXT.because(format_args!("{path}: expected nfsdump text")));
        }
        let heading = heading(first).map(|line| PyBytes::new(py, &line));
        self.rewriter.zeros(zeros);
        self.input = Mutex::new(Some(input));
        Ok(heading)
    }

    fn write(&mut self, line: &[u8]) -> PyResult<()> {
        self.output.write([line, b"\n"].concat()).map_err(|error| system(&self.out, &error))
    }

    fn step(&mut self, py: Python<'_>, mapping: &Bound<'_, PyMapping>) -> PyResult<bool> {
        let mut mapping = mapping.borrow_mut();
        let mapping = &mut mapping.mapping;
        let more = py.detach(|| self.advance(mapping));
        more.map_err(|error| system(&self.out, &error))
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.output.finish()).map_err(|error| system(&self.out, &error))
    }

    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = &self.rewriter.counts;
        let dict = PyDict::new(py);
        dict.set_item("lines", counts.lines)?;
        dict.set_item("written", counts.written)?;
        dict.set_item("comments", counts.comments)?;
        dict.set_item("damaged", &counts.damaged)?;
        dict.set_item("bytes", counts.bytes)?;
        Ok(dict)
    }
}

impl TextRewriter {
    fn advance(&mut self, mapping: &mut Mapping) -> io::Result<bool> {
        let Ok(Some(input)) = self.input.get_mut().map(Option::as_mut) else {
            return Ok(false);
        };
        let end = self.rewriter.counts.bytes + STEP as u64;
        while self.rewriter.counts.bytes < end {
            let mut chunk = Vec::with_capacity(1 << 21);
            let more = self.rewriter.step(input, mapping, &mut chunk)?;
            if !chunk.is_empty() {
                self.output.write(chunk)?;
            }
            if !more {
                self.rewriter.end(input);
                self.input = Mutex::default();
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn settings(prefix: bool, handles: bool, omit: &[String]) -> Settings {
    let omits = |what: &str| omit.iter().any(|word| word == what);
    let omit = Omit {
        names: omits("names"),
        users: omits("users"),
        groups: omits("groups"),
        hosts: omits("hosts"),
    };
    Settings { prefix, handles, omit }
}
