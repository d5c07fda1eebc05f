//! Losses as Arrow record batches. `data/schema.py` says what each column means.

use super::{Gap, Period};
use crate::message::Interner;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};
use std::sync::Arc;

/// Rows of the loss table.
pub fn periods(rows: &[Period], all: &Interner) -> Result<RecordBatch, ArrowError> {
    let tallies = || rows.iter().map(|row| &row.tally);
    let numbers = |value: fn(&super::Tally) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(tallies().map(value)))
    };
    batch(vec![
        ("time", times(rows.iter().map(|row| row.time)), false),
        ("server", hosts(all, rows.iter().map(|row| row.server))?, false),
        ("client", hosts(all, rows.iter().map(|row| row.client))?, false),
        ("calls", numbers(|tally| tally.calls), false),
        ("replies", numbers(|tally| tally.replies), false),
        ("unanswered", numbers(|tally| tally.unanswered), false),
        ("orphans", numbers(|tally| tally.orphans), false),
        ("unseen", Arc::new(tallies().map(|t| t.unseen()).collect::<UInt64Array>()), true),
        ("holes", numbers(|tally| tally.holes), false),
        ("missing_bytes", numbers(|tally| tally.missing_bytes), false),
        ("lost", Arc::new(Float64Array::from_iter_values(tallies().map(|t| t.lost()))), false),
        (
            "fraction",
            Arc::new(Float64Array::from_iter_values(tallies().map(|t| t.fraction()))),
            false,
        ),
    ])
}

/// Times in which calls were lost: `server`, `client`, `since`, `until`.
pub fn gaps(rows: &[Gap], all: &Interner) -> Result<RecordBatch, ArrowError> {
    batch(vec![
        ("server", hosts(all, rows.iter().map(|row| row.server))?, false),
        ("client", hosts(all, rows.iter().map(|row| row.client))?, false),
        ("since", times(rows.iter().map(|row| row.since)), false),
        ("until", times(rows.iter().map(|row| row.until)), false),
    ])
}

fn batch(columns: Vec<(&str, ArrayRef, bool)>) -> Result<RecordBatch, ArrowError> {
    let field = |(name, array, nullable): &(&str, ArrayRef, bool)| {
        Field::new(*name, array.data_type().clone(), *nullable)
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array, _)| array).collect())
}

fn times(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from_iter_values(values).with_timezone("UTC"))
}

fn hosts(all: &Interner, ids: impl Iterator<Item = u32>) -> Result<ArrayRef, ArrowError> {
    let names = StringArray::from_iter_values(all.names());
    let keys = Int32Array::from_iter_values(ids.map(|id| id as i32));
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::new(names))?))
}
