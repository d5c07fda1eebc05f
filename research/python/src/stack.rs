//! `storage_stack`, for Python.

use super::errors::{BAD_DRIVE_JSON, BAD_STORAGE_STACK, BROKEN};
use birthmark_research::issue::Issue;
use birthmark_research::load::{Load, Shape};
use birthmark_research::scale::{scale, Scale};
use birthmark_research::stack::{run, Figures, Rules, RulesError};
use birthmark_storage::drive::Parameters;
use pyo3::prelude::*;
use serde::Deserialize;

/// A load, and the drives and stacks that serve it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    shape: Shape,
    seed: u64,
    drive: Parameters,
    runs: Vec<OneRun>,
}

/// A stack, the scale of its drive, and whether requests come without waiting for others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneRun {
    scale: Scale,
    rules: Rules,
    #[serde(default)]
    open: bool,
}

#[pyfunction]
pub fn storage_stack(py: Python<'_>, asked_json: &str) -> PyResult<String> {
    let asked: Asked =
        serde_json::from_str(asked_json).map_err(|error| BAD_DRIVE_JSON.because(error))?;
    py.detach(|| {
        let load = Load::new(&asked.shape, asked.seed);
        let load =
            load.map_err(|error| BAD_STORAGE_STACK.because(format_args!("shape: {error}")))?;
        let figures = asked.runs.iter().enumerate().map(|(number, own)| {
            let named = |error| BAD_STORAGE_STACK.because(format_args!("runs.{number}: {error}"));
            own.figures(&load, &asked.drive).map_err(named)
        });
        let figures = figures.collect::<PyResult<Vec<Figures>>>()?;
        serde_json::to_string(&figures).map_err(|error| BROKEN.because(error))
    })
}

impl OneRun {
    fn figures(&self, load: &Load, drive: &Parameters) -> Result<Figures, RulesError> {
        drive.check()?;
        let drive = scale(drive, &self.scale)?;
        let (mut open, mut dependent) = (load.open(), load.issue());
        let issue: &mut dyn Issue = if self.open { &mut open } else { &mut dependent };
        run(load, issue, &drive, &self.rules)
    }
}
