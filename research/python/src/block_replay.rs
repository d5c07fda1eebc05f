//! `storage_replay`, for Python.

use super::errors::{raise_at, system, BAD_DRIVE_JSON, BROKEN};
use birthmark_research::replay::{run, Arrivals, ArrivalsOf, Fit, ReplayError, Replayed};
use birthmark_research::traces::{self, Accesses, Format};
use birthmark_storage::drive::{Drive, Parameters};
use birthmark_storage::queue::{Aged, Elevator, Fcfs, NCscan, Order};
use pyo3::prelude::*;
use serde::Deserialize;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// The weight of a nanosecond of waiting in a host's aged order, and the number of requests
/// considered.
const AGED: (f64, usize) = (0.01, 64);

/// A drive, and how it serves a trace.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    drive: Parameters,
    sector_bytes: u64,
    format: Option<Format>,
    issue: Issue,
    order: OrderName,
    wrap: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Issue {
    Open { faster: f64 },
    Dependent { faster: f64 },
    Population { clients: usize, think_ms: f64 },
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OrderName {
    Fcfs,
    Elevator,
    Ncscan,
    Aged,
}

#[pyfunction]
pub fn storage_replay(
    py: Python<'_>,
    trace: PathBuf,
    asked: &str,
    drive: PathBuf,
) -> PyResult<String> {
    let asked: Asked = serde_json::from_str(asked)
        .map_err(|error| BAD_DRIVE_JSON.because(format_args!("{}: {error}", drive.display())))?;
    let made = Drive::new(&asked.drive).map_err(|error| raise_at(&drive, error))?;
    py.detach(|| {
        let found = replay(&trace, &asked, made)?;
        serde_json::to_string(&found).map_err(|error| BROKEN.because(error))
    })
}

fn replay(trace: &Path, asked: &Asked, mut drive: Drive) -> PyResult<Replayed> {
    let (_, bytes) = birthmark_source::open(trace).map_err(|error| system(trace, &error))?;
    let fit = Fit {
        sectors: drive.mechanism().geometry().sectors(),
        sector_bytes: asked.sector_bytes,
        wrap: asked.wrap,
    };
    let found = traces::read(BufReader::new(bytes), asked.format)
        .map_err(ReplayError::from)
        .and_then(|accesses| issued(asked.issue, accesses))
        .and_then(|of| run(Arrivals::new(of, fit), &mut *order(asked.order), &mut drive));
    found.map_err(|error| raise_at(trace, error))
}

fn issued(issue: Issue, trace: Accesses) -> Result<ArrivalsOf, ReplayError> {
    match issue {
        Issue::Open { faster } => Ok(ArrivalsOf::open(trace, faster)),
        Issue::Dependent { faster } => ArrivalsOf::dependent(trace, faster),
        Issue::Population { clients, think_ms } => {
            Ok(ArrivalsOf::population(trace, clients, (think_ms * 1e6).round() as u64))
        }
    }
}

fn order(name: OrderName) -> Box<dyn Order> {
    match name {
        OrderName::Fcfs => Box::new(Fcfs::default()),
        OrderName::Elevator => Box::new(Elevator::default()),
        OrderName::Ncscan => Box::new(NCscan::default()),
        OrderName::Aged => Box::new(Aged::new(AGED.0, AGED.1)),
    }
}
