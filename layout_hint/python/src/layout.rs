//! `LayoutTrace` and `LayoutRun`, for Python.

use super::errors::{raise, BAD_JSON, BROKEN, NO_KERNEL, NO_VERDICTS, TWO_SOURCES};
use super::hook::Service;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt8Type;
use arrow_array::{make_array, Array, RecordBatch};
use arrow_data::ArrayData;
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use birthmark_hook::Asker;
use birthmark_sim::ffs::{Geometry, Kernel, Region, RegionMode};
use birthmark_sim::layout::{self, Config, Replay, Results, Trace, Verdicts};
use birthmark_storage::drive::Parameters;
use pyo3::prelude::*;
use std::ops::Range;
use std::sync::Arc;

#[pyclass(frozen)]
pub struct LayoutTrace {
    trace: Arc<Trace>,
}

#[pymethods]
impl LayoutTrace {
    #[new]
    fn new(
        py: Python<'_>,
        manifest: &Bound<'_, PyAny>,
        operations: &Bound<'_, PyAny>,
    ) -> PyResult<LayoutTrace> {
        let mut trace = Trace::default();
        for batch in manifest.try_iter()? {
            let batch = RecordBatch::from_pyarrow_bound(&batch?)?;
            py.detach(|| trace.add_manifest(&batch)).map_err(raise)?;
        }
        for batch in operations.try_iter()? {
            let batch = RecordBatch::from_pyarrow_bound(&batch?)?;
            py.detach(|| trace.add_operations(&batch)).map_err(raise)?;
        }
        Ok(LayoutTrace { trace: Arc::new(trace) })
    }

    #[getter]
    fn operations(&self) -> usize {
        self.trace.operations.len()
    }

    fn creates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, self.trace.creates().map_err(raise)?)
    }

    #[pyo3(signature = (config_json, hints = None, image = None, disk_json = None, service = None))]
    fn run(
        &self,
        py: Python<'_>,
        config_json: &str,
        hints: Option<&Bound<'_, PyAny>>,
        image: Option<Vec<u8>>,
        disk_json: Option<&str>,
        service: Option<Py<PyAny>>,
    ) -> PyResult<LayoutRun> {
        let config: Config = parse("config", config_json)?;
        let disk: Option<Parameters> = disk_json.map(|json| parse("disk", json)).transpose()?;
        let verdicts = match (hints, service) {
            (Some(_), service) if image.is_some() || service.is_some() => {
                return Err(
                    TWO_SOURCES.because("hints: expected them without an image or a service")
                );
            }
            (Some(hints), _) => Verdicts::Given(verdicts(hints, &self.trace)?),
            (None, None) if image.is_none() => Verdicts::Given(Vec::new()),
            (None, service) => {
                let service = service.map(|service| Box::new(Service(service)) as Box<dyn Asker>);
                Verdicts::asked(image.as_deref(), service, &config.query, config.policy)
                    .map_err(raise)?
            }
        };
        let trace = Arc::clone(&self.trace);
        let mut run =
            py.detach(|| Replay::new(trace, config, verdicts, disk.as_ref())).map_err(raise)?;
        while py.detach(|| run.step()) {
            py.check_signals()?;
        }
        Ok(LayoutRun { results: py.detach(|| Results::of(run)) })
    }
}

#[pyclass(frozen)]
pub struct LayoutRun {
    results: Results,
}

#[pymethods]
impl LayoutRun {
    #[getter]
    fn summary(&self) -> PyResult<String> {
        serde_json::to_string(&self.results.summary).map_err(|error| BROKEN.because(error))
    }

    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, self.results.counts().map_err(raise)?)
    }

    fn objects<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        table(py, self.results.objects().map_err(raise)?)
    }
}

#[pyfunction]
#[pyo3(signature = (name, bytes, journal = false))]
pub fn layout_geometry(name: &str, bytes: u64, journal: bool) -> PyResult<String> {
    let kernel = kernel(name)?;
    let geometry = layout::geometry(kernel, bytes as f64).map_err(raise)?;
    let free = match journal {
        true => layout::behind_journal(kernel, geometry).map_err(raise)?,
        false => geometry.dblkno(),
    };
    let inodes = geometry.inode_table() / u64::from(geometry.fsize);
    let sizes = serde_json::json!({
        "fsize": geometry.fsize,
        "bsize": geometry.bsize,
        "fpg": geometry.fpg,
        "ipg": geometry.ipg,
        "groups": geometry.ncg(),
        "inode_bytes": geometry.inode_size(),
        "iblkno": inodes,
        "dblkno": geometry.dblkno(),
        "free": free,
    });
    Ok(sizes.to_string())
}

type Ends = (u32, u32);

#[pyfunction]
pub fn layout_region(
    name: &str,
    bytes: u64,
    start: u64,
    length: u64,
    inodes: u32,
) -> PyResult<(Ends, Ends)> {
    let geometry = geometry(name, bytes)?;
    let region =
        Region::of(&geometry, start, length, inodes, RegionMode::Preferred).map_err(raise)?;
    let ends = |range: Range<u32>| (range.start, range.end);
    Ok((ends(region.inodes), ends(region.fragments)))
}

/// The geometry that a kernel's `newfs` makes for a size.
fn geometry(name: &str, bytes: u64) -> PyResult<Geometry> {
    layout::geometry(kernel(name)?, bytes as f64).map_err(raise)
}

fn kernel(name: &str) -> PyResult<Kernel> {
    serde_json::from_value(name.into())
        .map_err(|error| NO_KERNEL.because(format_args!("geometry: {error}")))
}

/// A verdict per create.
fn verdicts(hints: &Bound<'_, PyAny>, trace: &Trace) -> PyResult<Vec<u8>> {
    let hints = make_array(ArrayData::from_pyarrow_bound(hints)?);
    let expected = trace.creates.len();
    match hints.as_primitive_opt::<UInt8Type>() {
        Some(hints) if hints.len() == expected && hints.null_count() == 0 => {
            Ok(hints.values().to_vec())
        }
        _ => Err(NO_VERDICTS.because(format_args!("hints: expected {expected} uint8, none null"))),
    }
}

fn parse<T: serde::de::DeserializeOwned>(what: &str, json: &str) -> PyResult<T> {
    serde_json::from_str(json).map_err(|error| BAD_JSON.because(format_args!("{what}: {error}")))
}

fn table<'py>(py: Python<'py>, batch: RecordBatch) -> PyResult<Bound<'py, PyAny>> {
    let batch = batch.to_pyarrow(py)?;
    py.import("pyarrow")?.getattr("Table")?.call_method1("from_batches", (vec![batch],))
}
