//! `check_recording`, for Python.

use super::errors::{system, BAD_RECORDING};
use birthmark_sim::ffs::{RecordingError, Replay};
use pyo3::prelude::*;
use std::io::BufReader;
use std::path::PathBuf;

/// Lines replayed between checks for signals.
const LINES: u32 = 1000;

#[pyclass(frozen, get_all, module = "birthmark_native")]
pub struct Checked {
    operations: u64,
    states: u64,
    difference: Option<(u64, String, String, String)>,
}

#[pyfunction]
pub fn check_recording(py: Python<'_>, path: PathBuf) -> PyResult<Checked> {
    // as compilers name a line: PATH:LINE: what is wrong
    let raise =
        |error: RecordingError| BAD_RECORDING.because(format_args!("{}:{error}", path.display()));
    let (_, source) = birthmark_source::open(&path).map_err(|error| system(&path, &error))?;
    let mut replay = py.detach(|| Replay::new(BufReader::new(source))).map_err(raise)?;
    while py.detach(|| steps(&mut replay)).map_err(raise)? {
        py.check_signals()?;
    }
    let difference = replay.difference.take();
    let difference = difference.map(|d| (d.line, d.request, d.recorded, d.answered));
    Ok(Checked { operations: replay.operations, states: replay.states, difference })
}

/// Replays some lines. Returns whether there may be more.
fn steps<R: std::io::BufRead>(replay: &mut Replay<R>) -> Result<bool, RecordingError> {
    for _ in 0..LINES {
        if !replay.step()? {
            return Ok(false);
        }
    }
    Ok(true)
}
