//! Losses as Arrow record batches. `data/schema.py` says what each column means.

use super::{Gap, Period, Tally, EVERYONE, UNNAMED};
use crate::message::{HostId, Interner};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt64Array};
use arrow_schema::ArrowError;
use birthmark_columns::arrays::{occurring, times};
use std::sync::Arc;

/// Rows of the loss table.
pub fn periods(rows: &[Period], all: &Interner) -> Result<RecordBatch, ArrowError> {
    let tallies = || rows.iter().map(|row| &row.tally);
    let estimates = |value: fn(&Tally) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(tallies().map(value)))
    };
    let numbers = |value: fn(&Tally) -> u64| -> ArrayRef {
        Arc::new(UInt64Array::from_iter_values(tallies().map(value)))
    };
    RecordBatch::try_from_iter_with_nullable([
        ("time", times(rows.iter().map(|row| row.time)), false),
        ("server", occurring(rows.iter().map(|row| Some(row.server)), |id| host(all, id)), false),
        ("client", occurring(rows.iter().map(|row| Some(row.client)), |id| host(all, id)), false),
        ("calls", numbers(|tally| tally.calls), false),
        ("replies", numbers(|tally| tally.replies), false),
        ("unanswered", numbers(|tally| tally.unanswered), false),
        ("orphans", numbers(|tally| tally.orphans), false),
        ("unseen", Arc::new(tallies().map(|t| t.unseen()).collect::<UInt64Array>()), true),
        ("holes", numbers(|tally| tally.holes), false),
        ("missing_bytes", numbers(|tally| tally.missing_bytes), false),
        ("lost", estimates(Tally::lost), false),
        ("fraction", estimates(Tally::fraction), false),
        ("dropped", numbers(|tally| tally.dropped), true),
        ("unwatched", numbers(|tally| tally.unwatched), true),
    ])
}

/// Times in which calls were lost: `server`, `client`, `since`, `until`.
pub fn gaps(rows: &[Gap], all: &Interner) -> Result<RecordBatch, ArrowError> {
    RecordBatch::try_from_iter_with_nullable([
        ("server", occurring(rows.iter().map(|row| Some(row.server)), |id| host(all, id)), false),
        ("client", occurring(rows.iter().map(|row| Some(row.client)), |id| host(all, id)), false),
        ("since", times(rows.iter().map(|row| row.since)), false),
        ("until", times(rows.iter().map(|row| row.until)), false),
    ])
}

fn host(all: &Interner, id: HostId) -> &str {
    if id == UNNAMED {
        return EVERYONE;
    }
    all.names().get(id as usize).map_or("", String::as_str)
}
