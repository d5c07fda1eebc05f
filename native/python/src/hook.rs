//! `Hook`, for Python.

use arrow_array::{Array, RecordBatch, UInt64Array, UInt8Array};
use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow, PyArrowType};
use birthmark_hook::{
    Address, AddressError, Counters, Hook, Http, Mode, SyncCounters, SyncSettings,
};
use birthmark_image::{Creates, Needs};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
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
        service: Option<&str>,
        deadline: f64,
        back_off: (f64, f64),
        failures: u64,
    ) -> PyResult<PyHook> {
        let mode = if service.is_some() { Mode::Query } else { Mode::Table };
        let mut hook = Hook::new(image, mode).map_err(raise)?;
        if let Some(service) = service {
            let address: Address = service.parse().map_err(|e: AddressError| raise(e))?;
            let settings = SyncSettings {
                deadline: nanoseconds(deadline),
                back_off_first: nanoseconds(back_off.0),
                back_off_max: nanoseconds(back_off.1),
                failures_max: failures,
            };
            hook.wait_for(Box::new(Http::new(address)), settings);
        }
        Ok(PyHook { hook: Mutex::new(hook) })
    }

    #[getter]
    fn counters(&self) -> PyResult<String> {
        let hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = Counted { counters: hook.counters(), service: hook.sync_counters() };
        serde_json::to_string(&counted).map_err(raise)
    }

    #[pyo3(signature = (creates, directory=false))]
    fn ask(
        &self,
        py: Python<'_>,
        creates: &Bound<'_, PyAny>,
        directory: bool,
    ) -> PyResult<(PyArrowType<ArrayData>, PyArrowType<ArrayData>)> {
        let rows = RecordBatch::from_pyarrow_bound(creates)?;
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
        let (verdicts, times) = (UInt8Array::from(verdicts), UInt64Array::from(times));
        Ok((PyArrowType(verdicts.to_data()), PyArrowType(times.to_data())))
    }
}

/// A time of at most 584 years; 0 if it is negative or none.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

fn raise(error: impl std::error::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}
