//! `storage_attached`, for Python.

use super::errors::{raise, raise_at, system, BAD_DRIVE_JSON, BROKEN};
use birthmark_research::attached::load::{auspex, Ask, AuspexError, Nfs, NfsLoad, Web, WebLoad};
use birthmark_research::attached::{run, Asked, Attached, RunError};
use pyo3::prelude::*;
use serde::Deserialize;
use std::io::BufReader;
use std::path::PathBuf;

/// A system, and its load.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Experiment {
    system: Attached,
    load: Load,
    seed: u64,
    warm_up: u64,
    requests: u64,
}

/// The load of a system.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Load {
    Nfs(NfsLoad),
    Web(WebLoad),
    Trace(PathBuf),
}

type Asks = Box<dyn Iterator<Item = Result<Ask, AuspexError>>>;

#[pyfunction]
pub fn storage_attached(py: Python<'_>, experiment: &str) -> PyResult<String> {
    let Experiment { system, load, seed, warm_up, requests } =
        serde_json::from_str(experiment).map_err(|error| BAD_DRIVE_JSON.because(error))?;
    py.detach(|| {
        let asked = Asked { seed, warm_up, requests };
        let found = run(&system, asked, asks(&load, seed)?);
        let found = found.map_err(|error| match (&load, error) {
            (Load::Trace(path), RunError::Trace(error)) => raise_at(path, error),
            (_, error) => raise(error),
        })?;
        serde_json::to_string(&found).map_err(|error| BROKEN.because(error))
    })
}

fn asks(load: &Load, seed: u64) -> PyResult<Asks> {
    Ok(match load {
        Load::Nfs(load) => Box::new(Nfs::new(*load, seed).map(Ok)),
        Load::Web(load) => Box::new(Web::new(*load, seed).map(Ok)),
        Load::Trace(path) => {
            let (_, bytes) = birthmark_source::open(path).map_err(|error| system(path, &error))?;
            Box::new(auspex(BufReader::new(bytes)))
        }
    })
}
