//! `ScanCounter` and `ScanMerger`, for Python.

use super::arrays::{Batch, Column};
use super::errors::{raise, NO_KEY, NO_NUMBERS};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{make_array, ArrayRef, RecordBatch};
use arrow_pyarrow::PyArrowType;
use birthmark_tables::scan::{By, Counter, Merger, Plan};
use pyo3::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;

#[pyclass]
pub struct ScanCounter {
    counter: Counter,
    #[pyo3(get)]
    columns: Vec<String>,
}

#[pymethods]
impl ScanCounter {
    #[new]
    #[pyo3(signature = (period, by, ops = None, files = false, clients = None, uids = None, gids = None))]
    fn new(
        period: i64,
        by: Vec<String>,
        ops: Option<Vec<String>>,
        files: bool,
        clients: Option<HashSet<String>>,
        uids: Option<HashSet<u32>>,
        gids: Option<HashSet<u32>>,
    ) -> PyResult<ScanCounter> {
        let plan = Plan {
            period,
            by: keys(&by)?,
            ops,
            files,
            clients: clients.map(|set| set.into_iter().collect()),
            uids: uids.map(|set| set.into_iter().collect()),
            gids: gids.map(|set| set.into_iter().collect()),
        };
        let columns = plan.columns();
        Ok(ScanCounter { counter: Counter::new(plan), columns })
    }

    fn update(&mut self, py: Python<'_>, batch: Batch) -> PyResult<()> {
        py.detach(|| self.counter.update(&batch.0)).map_err(raise)
    }

    fn finish(&mut self, py: Python<'_>) {
        py.detach(|| self.counter.finish());
    }

    fn show(&mut self, py: Python<'_>) {
        py.detach(|| self.counter.show());
    }

    fn forget(&mut self, py: Python<'_>, most: usize) -> usize {
        py.detach(|| self.counter.forget(most))
    }

    fn take(&mut self, py: Python<'_>) -> PyResult<Batch> {
        py.detach(|| self.counter.take()).map(PyArrowType).map_err(raise)
    }

    fn take_back(&mut self, py: Python<'_>) -> PyResult<Batch> {
        py.detach(|| self.counter.take_back()).map(PyArrowType).map_err(raise)
    }

    #[getter]
    fn known(&self) -> usize {
        self.counter.known()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.counter.rows()
    }

    #[getter]
    fn again(&self) -> bool {
        self.counter.again()
    }

    #[getter]
    fn files(&self) -> usize {
        self.counter.files()
    }

    fn take_files(&mut self, py: Python<'_>) -> PyResult<Batch> {
        py.detach(|| self.counter.take_files()).map(PyArrowType).map_err(raise)
    }

    fn paths(&self, py: Python<'_>, ids: Column) -> PyResult<Batch> {
        let ids = make_array(ids.0);
        let Some(ids) = ids.as_primitive_opt::<UInt32Type>() else {
            return Err(NO_NUMBERS.because("numbers of files: expected uint32"));
        };
        let (paths, gone) = py.detach(|| self.counter.paths(ids.values()));
        let columns: [(&str, ArrayRef); 2] = [("path", Arc::new(paths)), ("gone", Arc::new(gone))];
        RecordBatch::try_from_iter(columns).map(PyArrowType).map_err(raise)
    }
}

#[pyclass]
pub struct ScanMerger {
    merger: Merger,
}

#[pymethods]
impl ScanMerger {
    #[new]
    fn new(period: i64, by: Vec<String>, origin: i64) -> PyResult<ScanMerger> {
        Ok(ScanMerger { merger: Merger::new(keys(&by)?, period, origin) })
    }

    fn update(&mut self, py: Python<'_>, batch: Batch) -> PyResult<()> {
        py.detach(|| self.merger.update(&batch.0)).map_err(raise)
    }

    fn close(&mut self, py: Python<'_>, time: i64) {
        py.detach(|| self.merger.close(time));
    }

    fn take(&mut self, py: Python<'_>) -> PyResult<Batch> {
        py.detach(|| self.merger.take()).map(PyArrowType).map_err(raise)
    }
}

fn keys(names: &[String]) -> PyResult<By> {
    let mut by = By::default();
    for name in names {
        let key = match name.as_str() {
            "server" => &mut by.server,
            "client" => &mut by.client,
            "uid" => &mut by.uid,
            "gid" => &mut by.gid,
            "file" => &mut by.file,
            "directory" => &mut by.directory,
            _ => return Err(NO_KEY.because(format_args!("{name}: no key of a scan"))),
        };
        *key = true;
    }
    Ok(by)
}
