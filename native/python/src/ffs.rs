//! `check_recording` and `place_files`, for Python.

use birthmark_sim::ffs::{FileSystem, FreeBsd48, Geometry, Lcg, RecordingError, Replay};
use birthmark_trace::source;
use birthmark_trace::trace::TraceError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::io::BufReader;
use std::path::PathBuf;

/// How many lines are repeated between looks for signals.
const LINES: u32 = 1000;

#[pyclass(frozen, get_all, module = "birthmark_native")]
struct Checked {
    operations: u64,
    states: u64,
    difference: Option<(u64, String, String, String)>,
}

#[pyfunction]
fn check_recording(py: Python<'_>, path: PathBuf) -> PyResult<Checked> {
    let raise =
        |error: RecordingError| PyValueError::new_err(format!("{}:{error}", path.display()));
    let opened = source::open(&path).map_err(TraceError::Io);
    let (_, source) =
        opened.map_err(|error| super::trace::raise(&path.to_string_lossy(), error))?;
    let mut replay = py.detach(|| Replay::new(BufReader::new(source))).map_err(raise)?;
    while py.detach(|| steps(&mut replay)).map_err(raise)? {
        py.check_signals()?;
    }
    let difference = replay.difference.take();
    let difference = difference.map(|d| (d.line, d.request, d.recorded, d.answered));
    Ok(Checked { operations: replay.operations, states: replay.states, difference })
}

/// Repeats some lines. Returns whether there may be more.
fn steps<R: std::io::BufRead>(replay: &mut Replay<R>) -> Result<bool, RecordingError> {
    for _ in 0..LINES {
        if !replay.step()? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[pyfunction]
fn place_files(
    size: u32,
    fpg: u32,
    ipg: u32,
    bsize: u32,
    fsize: u32,
    files: Vec<(u32, bool, u64)>,
) -> PyResult<Vec<String>> {
    let raise = |error: &dyn std::error::Error| PyValueError::new_err(error.to_string());
    let geometry = Geometry { bsize, fsize, ..Geometry::new(size, fpg, ipg) };
    geometry.check().map_err(|error| raise(&error))?;
    let mut filesystem = FileSystem::bare(geometry, FreeBsd48, Lcg::default());
    filesystem.volume.superuser = true;
    let mut placed = Vec::with_capacity(files.len());
    for (inode, directory, size) in files {
        filesystem.adopt(inode, directory).map_err(|error| raise(&error))?;
        filesystem.extend(inode, size).map_err(|error| raise(&error))?;
        let file = filesystem.file(inode).map(|file| file.shown(geometry.nindir()));
        placed.push(file.unwrap_or_default().trim_start().to_owned());
    }
    filesystem.check().map_err(|error| raise(&error))?;
    Ok(placed)
}

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Checked>()?;
    module.add_function(wrap_pyfunction!(check_recording, module)?)?;
    module.add_function(wrap_pyfunction!(place_files, module)?)
}
