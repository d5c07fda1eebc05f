//! A history as a table, one row per key.

use super::record::{Record, MEMORY, SHARES};
use super::{Error, History};
use arrow_array::types::{ArrowPrimitiveType, TimestampMicrosecondType};
use arrow_array::types::{UInt16Type, UInt32Type, UInt64Type, UInt8Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray, RecordBatch, TimestampMicrosecondArray};
use birthmark_columns::arrays::times;
use birthmark_columns::Source;
use std::sync::Arc;

type Column = (String, ArrayRef, bool);

impl History {
    /// The greatest number of keys.
    pub fn most(&self) -> usize {
        self.store.most()
    }

    /// The end of the input so far.
    pub fn clock(&self) -> i64 {
        self.clock
    }

    /// All records, in the order of the keys.
    pub fn records(&self) -> Vec<(u64, Record)> {
        self.store.sorted()
    }

    /// Restores [`History::records`]; none for duplicate keys, or too many.
    pub fn from_records(
        most: usize,
        clock: i64,
        records: impl IntoIterator<Item = (u64, Record)>,
    ) -> Option<History> {
        let mut history = History::new(most).ok()?;
        history.clock = clock;
        for (count, (key, record)) in records.into_iter().enumerate() {
            if count >= most || !history.store.put(key, record) {
                return None;
            }
        }
        Some(history)
    }

    /// All records as a table, by key.
    pub fn to_batch(&self) -> Result<RecordBatch, Error> {
        to_batch(self.records().iter().map(|(key, record)| (key, record)))
    }

    /// Restores [`History::to_batch`], validated.
    pub fn from_batch(batch: &RecordBatch, most: usize, clock: i64) -> Result<History, Error> {
        let mut history = History::new(most)?;
        history.clock = clock;
        if batch.num_rows() > most {
            return Err(damaged(most, "key", "one more", &format!("at most {most} keys")));
        }
        for (row, (key, record)) in records(batch)?.into_iter().enumerate() {
            if !history.store.put(key, record) {
                return Err(damaged(row, "key", "there already", "each key once"));
            }
        }
        Ok(history)
    }
}

/// Keys and their records as a table, one row per key.
pub fn to_batch<'a>(
    rows: impl Iterator<Item = (&'a u64, &'a Record)> + Clone,
) -> Result<RecordBatch, Error> {
    let records = || rows.clone().map(|(_, record)| record);
    let mut columns = vec![
        numbers::<UInt64Type>("key", rows.clone().map(|(key, _)| *key)),
        numbers::<UInt32Type>("births", records().map(|r| r.births)),
        ("first_birth".into(), times(records().map(|r| r.first_birth)), false),
        ("last_birth".into(), times(records().map(|r| r.last_birth)), false),
        ("last_death".into(), times(records().map(|r| r.last_death)), true),
        numbers::<UInt8Type>("life", records().map(|r| r.life)),
        numbers::<UInt8Type>("size", records().map(|r| r.size)),
        numbers::<UInt8Type>("write_only", records().map(|r| r.write_only)),
        numbers::<UInt64Type>("shape", records().map(|r| r.shape)),
    ];
    for i in 0..SHARES {
        columns.push(numbers::<UInt16Type>(share(i), records().map(|r| r.share[i])));
        columns.push(numbers::<UInt8Type>(known(i), records().map(|r| r.known[i])));
    }
    Ok(RecordBatch::try_from_iter_with_nullable(columns)?)
}

/// Keys and their records from a table of [`History::to_batch`], validated.
pub fn records(batch: &RecordBatch) -> Result<Vec<(u64, Record)>, Error> {
    let keys = values::<UInt64Type>(batch, "key")?;
    let mut records = vec![Record::default(); batch.num_rows()];
    fill::<UInt32Type>(batch, "births", &mut records, |r, v| r.births = v)?;
    fill::<TimestampMicrosecondType>(batch, "first_birth", &mut records, |r, v| r.first_birth = v)?;
    fill::<TimestampMicrosecondType>(batch, "last_birth", &mut records, |r, v| r.last_birth = v)?;
    let deaths: &TimestampMicrosecondArray = Source::Table(batch).array("last_death")?;
    records.iter_mut().zip(deaths).for_each(|(record, death)| record.last_death = death);
    fill::<UInt8Type>(batch, "life", &mut records, |r, v| r.life = v)?;
    fill::<UInt8Type>(batch, "size", &mut records, |r, v| r.size = v)?;
    at_most(batch, "write_only", 2)?;
    fill::<UInt8Type>(batch, "write_only", &mut records, |r, v| r.write_only = v)?;
    fill::<UInt64Type>(batch, "shape", &mut records, |r, v| r.shape = v)?;
    for i in 0..SHARES {
        fill::<UInt16Type>(batch, &share(i), &mut records, |r, v| r.share[i] = v)?;
        at_most(batch, &known(i), MEMORY)?;
        fill::<UInt8Type>(batch, &known(i), &mut records, |r, v| r.known[i] = v)?;
    }
    match records.iter().position(|record| record.births == 0) {
        Some(row) => Err(damaged(row, "births", "0", "at least one birth")),
        None => Ok(keys.into_iter().zip(records).collect()),
    }
}

fn fill<T: ArrowPrimitiveType>(
    batch: &RecordBatch,
    name: &str,
    records: &mut [Record],
    set: impl Fn(&mut Record, T::Native),
) -> Result<(), Error> {
    let values = values::<T>(batch, name)?;
    records.iter_mut().zip(values).for_each(|(record, value)| set(record, value));
    Ok(())
}

/// The values of a column without nulls.
pub fn values<T: ArrowPrimitiveType>(
    batch: &RecordBatch,
    name: &str,
) -> Result<Vec<T::Native>, Error> {
    let values: &PrimitiveArray<T> = Source::Table(batch).array(name)?;
    match (0..values.len()).find(|&row| values.is_null(row)) {
        Some(row) => Err(damaged(row, name, "null", "a value")),
        None => Ok(values.values().to_vec()),
    }
}

fn at_most(batch: &RecordBatch, name: &str, most: u8) -> Result<(), Error> {
    let values = values::<UInt8Type>(batch, name)?;
    match values.iter().position(|&value| value > most) {
        Some(row) => Err(damaged(row, name, &values[row].to_string(), &format!("at most {most}"))),
        None => Ok(()),
    }
}

fn damaged(row: usize, column: &str, found: &str, expected: &str) -> Error {
    let (column, found, expected) = (column.into(), found.into(), expected.into());
    Error::Damaged { row, column, found, expected }
}

fn share(which: usize) -> String {
    format!("share_{which}")
}

fn known(which: usize) -> String {
    format!("known_{which}")
}

fn numbers<T: ArrowPrimitiveType>(
    name: impl Into<String>,
    values: impl Iterator<Item = T::Native>,
) -> Column {
    (name.into(), Arc::new(PrimitiveArray::<T>::from_iter_values(values)), false)
}
