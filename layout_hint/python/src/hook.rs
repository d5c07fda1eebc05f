//! `Hook`, for Python.

use super::errors::{raise, BROKEN};
use arrow_array::{UInt64Array, UInt8Array};
use birthmark_extension::arrays::{column, Batch, Column};
use birthmark_hook::wire::{Counters, Question};
use birthmark_hook::{Asker, Failure, Hook, Mode, SyncCounters, SyncSettings, Verdict};
use birthmark_image::{Creates, Needs};
use pyo3::exceptions::{PyOSError, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::Serialize;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

const NEEDS: Needs = Needs { owner: true, client: false, history: false, hour: true };

#[pyclass(name = "Hook", frozen)]
pub struct PyHook {
    hook: Mutex<Hook>,
}

#[derive(Serialize)]
struct Counted {
    #[serde(flatten)]
    counters: Counters,
    service: Option<SyncCounters>,
}

#[pymethods]
impl PyHook {
    #[new]
    #[pyo3(signature = (
        image=None, service=None, *, deadline=0.002, back_off=(0.1, 30.0), failures=5
    ))]
    fn new(
        image: Option<&[u8]>,
        service: Option<Py<PyAny>>,
        deadline: f64,
        back_off: (f64, f64),
        failures: u64,
    ) -> PyResult<PyHook> {
        let mode = if service.is_some() { Mode::Query } else { Mode::Table };
        let mut hook = Hook::new(image, mode).map_err(raise)?;
        if let Some(service) = service {
            let settings = SyncSettings {
                deadline: nanoseconds(deadline),
                back_off_first: nanoseconds(back_off.0),
                back_off_max: nanoseconds(back_off.1),
                failures_max: failures,
            };
            hook.wait_for(Box::new(Service(service)), settings);
        }
        Ok(PyHook { hook: Mutex::new(hook) })
    }

    #[getter]
    fn counters(&self, py: Python<'_>) -> PyResult<String> {
        let counted = py.detach(|| {
            let hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner);
            Counted { counters: hook.state().counters, service: hook.sync_counters() }
        });
        serde_json::to_string(&counted).map_err(|error| BROKEN.because(error))
    }

    #[pyo3(signature = (creates, directory=false))]
    fn ask(&self, py: Python<'_>, creates: Batch, directory: bool) -> PyResult<(Column, Column)> {
        let rows = creates.0;
        let creates = Creates::of(&rows, NEEDS).map_err(raise)?;
        let mut verdicts = Vec::with_capacity(rows.num_rows());
        let mut times = Vec::with_capacity(rows.num_rows());
        for row in 0..rows.num_rows() {
            let create = creates.create(row);
            py.detach(|| {
                let mut hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner);
                let begin = Instant::now();
                verdicts.push(hook.ask(&create, directory).0);
                times.push(begin.elapsed().as_nanos() as u64);
            });
            py.check_signals()?;
        }
        Ok((column(UInt8Array::from(verdicts)), column(UInt64Array::from(times))))
    }
}

/// A callable that answers like a service.
pub struct Service(pub Py<PyAny>);

impl Asker for Service {
    fn ask(&mut self, question: &Question, deadline: Instant) -> Result<Verdict, Failure> {
        let left = deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        Python::attach(|py| {
            let name = question.name().map(|name| PyBytes::new(py, name));
            let [mode, uid, gid, hour] = question.numbers();
            let create = (name, question.is_directory(), (mode, uid, gid), hour);
            let answer = self.0.call1(py, (create, left)).and_then(|bits| bits.extract::<u8>(py));
            match answer {
                Ok(bits) if bits <= Verdict::ALL.0 => Ok(Verdict(bits)),
                Err(error) if error.is_instance_of::<PyTimeoutError>(py) => Err(Failure::Late),
                Err(error) if error.is_instance_of::<PyOSError>(py) => Err(Failure::Gone),
                _ => Err(Failure::Bad),
            }
        })
    }
}

/// A time of at most 584 years; 0 if it is negative or none.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}
