//! `StorageServer` and `StorageReuse`, for Python.

use super::errors::{raise, BAD_CALLS, BAD_SERVER_JSON, BROKEN};
use arrow_array::types::{ArrowPrimitiveType, UInt32Type, UInt64Type, UInt8Type};
use arrow_array::{Array, PrimitiveArray, RecordBatch, UInt64Array};
use arrow_pyarrow::PyArrowType;
use birthmark_extension::arrays::{column, typed, Batch, Column};
use birthmark_storage::server::reuse::Reuse;
use birthmark_storage::server::{Call, Class, Issue, Parameters, Server};
use pyo3::prelude::*;

#[pyclass(name = "StorageServer")]
pub struct PyStorageServer(Server);

#[pymethods]
impl PyStorageServer {
    #[new]
    #[pyo3(signature = (server_json, issue_json, seed, start=0, each=false))]
    fn new(
        server_json: &str,
        issue_json: &str,
        seed: u64,
        start: u64,
        each: bool,
    ) -> PyResult<Self> {
        let parameters: Parameters =
            serde_json::from_str(server_json).map_err(|error| BAD_SERVER_JSON.because(error))?;
        let issue: Issue =
            serde_json::from_str(issue_json).map_err(|error| BAD_SERVER_JSON.because(error))?;
        Server::new(parameters, issue, seed, start, each).map(Self).map_err(raise)
    }

    fn feed(&mut self, py: Python<'_>, calls: Batch) -> PyResult<()> {
        let calls = read(&calls.0)?;
        py.detach(|| {
            for call in calls {
                self.0.feed(call);
            }
            self.0.advance();
        });
        Ok(())
    }

    fn finish(&mut self, py: Python<'_>) -> PyResult<String> {
        let outcome = py.detach(|| self.0.finish());
        serde_json::to_string(&outcome).map_err(|error| BROKEN.because(error))
    }

    fn each(&self) -> (Column, Column, Column) {
        let of = |member: fn(&birthmark_storage::server::Each) -> u64| {
            column(UInt64Array::from_iter_values(self.0.each().iter().map(member)))
        };
        (of(|each| each.came), of(|each| each.latency), of(|each| each.disk_bytes))
    }
}

#[pyclass(name = "StorageReuse")]
pub struct PyStorageReuse(Reuse);

#[pymethods]
impl PyStorageReuse {
    #[new]
    fn new(block: u64) -> Self {
        Self(Reuse::new(block.max(1)))
    }

    fn touch(&mut self, py: Python<'_>, calls: Batch) -> PyResult<Column> {
        let calls = read(&calls.0)?;
        let distances = py.detach(|| {
            let distances = calls.iter().map(|call| self.0.touch(call));
            distances.collect::<UInt64Array>()
        });
        Ok(column(distances))
    }
}

/// The calls of a batch, whose columns are those of `birthmark.storage.what_if.columns.CALLS`.
fn read(batch: &RecordBatch) -> PyResult<Vec<Call>> {
    let (at, replied) = (of::<UInt64Type>(batch, "at")?, of::<UInt64Type>(batch, "replied")?);
    let (stream, file) = (of::<UInt32Type>(batch, "stream")?, of::<UInt32Type>(batch, "file")?);
    let (offset, end) = (of::<UInt64Type>(batch, "offset")?, of::<UInt64Type>(batch, "end")?);
    let (class, stable) = (of::<UInt8Type>(batch, "class")?, of::<UInt8Type>(batch, "stable")?);
    let bytes = of::<UInt32Type>(batch, "bytes")?;
    let connection = of::<UInt32Type>(batch, "connection")?;
    let target = of::<UInt32Type>(batch, "target")?;
    let (directory, hints) =
        (of::<UInt8Type>(batch, "directory")?, of::<UInt8Type>(batch, "hints")?);
    let call = |row: usize| {
        let number = class.value(row);
        let class = Class::from_number(number).ok_or_else(|| {
            BAD_CALLS.because(format_args!("row {row}: class {number}: there is no such class"))
        })?;
        Ok(Call {
            at: at.value(row),
            replied: replied.value(row),
            stream: stream.value(row),
            connection: connection.value(row),
            class,
            file: file.value(row),
            target: target.value(row),
            directory: directory.value(row) > 0,
            hints: hints.value(row),
            offset: offset.value(row).min(1 << 50),
            bytes: bytes.value(row),
            end: end.value(row),
            stable: stable.value(row) > 0,
        })
    };
    (0..batch.num_rows()).map(call).collect()
}

/// A column without nulls.
fn of<T: ArrowPrimitiveType>(batch: &RecordBatch, name: &str) -> PyResult<PrimitiveArray<T>> {
    let found = batch.column_by_name(name);
    let found = found.ok_or_else(|| BAD_CALLS.because(format_args!("expected a column {name}")))?;
    let array: PrimitiveArray<T> = typed(PyArrowType(found.to_data()), &T::DATA_TYPE, name)?;
    if array.null_count() > 0 {
        return Err(BAD_CALLS.because(format_args!("{name} has nulls")));
    }
    Ok(array)
}
