//! The rows of a scan's table (`data/scan/tables.py` documents the columns).

use super::cells::{By, Cells, Key, Tally, SUMS};
use super::histogram::low;
use arrow_array::builder::{
    Float64Builder, ListBuilder, StringBuilder, StructBuilder, UInt32Builder, UInt64Builder,
};
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{ArrayRef, Float64Array, PrimitiveArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use birthmark_trace::message::Interner;
use std::sync::Arc;

/// The words for a key's numbers.
#[derive(Clone, Copy)]
#[allow(missing_docs)]
pub struct Words<'a> {
    pub hosts: &'a Interner,
    pub paths: &'a Interner,
    pub ops: &'a Interner,
}

/// Pending rows.
pub struct Rows {
    by: By,
    seconds: f64,
    times: Vec<i64>,
    words: [StringBuilder; 5],
    ids: [UInt32Builder; 2],
    sums: [UInt64Builder; SUMS.len()],
    mean: Float64Builder,
    quantiles: [UInt64Builder; 4],
    latency: ListBuilder<StructBuilder>,
}

/// The fields of one bucket of a histogram.
pub fn bucket_fields() -> Fields {
    Fields::from(vec![
        Field::new("us", DataType::UInt64, false),
        Field::new("ops", DataType::UInt64, false),
    ])
}

impl Rows {
    /// Returns an empty list, for periods of `length` microseconds.
    pub fn new(by: By, length: i64) -> Rows {
        let item = Field::new("item", DataType::Struct(bucket_fields()), false);
        let buckets = StructBuilder::from_fields(bucket_fields(), 0);
        Rows {
            by,
            seconds: length as f64 / 1e6,
            times: Vec::new(),
            words: Default::default(),
            ids: Default::default(),
            sums: Default::default(),
            mean: Float64Builder::new(),
            quantiles: Default::default(),
            latency: ListBuilder::new(buckets).with_field(item),
        }
    }

    /// The number of rows pending.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Adds a period's counts, in the order of their keys' numbers.
    pub fn add(&mut self, time: i64, cells: &Cells, words: Words) {
        let mut keys: Vec<(&Key, &Tally)> = cells.iter().collect();
        keys.sort_unstable_by_key(|(key, _)| **key);
        for (key, tally) in keys {
            self.times.push(time);
            self.key(key, words);
            self.tally(tally);
        }
    }

    /// Takes the rows.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        let count = self.times.len();
        let times = std::mem::take(&mut self.times);
        let times = PrimitiveArray::<TimestampMicrosecondType>::from(times).with_timezone("UTC");
        let seconds = Float64Array::from(vec![self.seconds; count]);
        let mut columns: Vec<(&str, ArrayRef, bool)> =
            vec![("time", Arc::new(times), false), ("seconds", Arc::new(seconds), false)];
        let By { server, client, uid, gid, file, directory } = self.by;
        let [servers, clients, files, directories, ops] = &mut self.words;
        let [uids, gids] = &mut self.ids;
        let mut key = |wanted: bool, name, array: ArrayRef, null| {
            if wanted {
                columns.push((name, array, null));
            }
        };
        key(server, "server", Arc::new(servers.finish()), false);
        key(client, "client", Arc::new(clients.finish()), false);
        key(uid, "uid", Arc::new(uids.finish()), true);
        key(gid, "gid", Arc::new(gids.finish()), true);
        key(file, "file", Arc::new(files.finish()), false);
        key(directory, "directory", Arc::new(directories.finish()), false);
        key(true, "op", Arc::new(ops.finish()), false);
        for (name, sums) in SUMS.iter().zip(&mut self.sums) {
            columns.push((name, Arc::new(sums.finish()), false));
        }
        columns.push(("latency_mean", Arc::new(self.mean.finish()), true));
        let names = ["latency_p50", "latency_p90", "latency_p99", "latency_max"];
        for (name, numbers) in names.into_iter().zip(&mut self.quantiles) {
            columns.push((name, Arc::new(numbers.finish()), true));
        }
        columns.push(("latency", Arc::new(self.latency.finish()), false));
        RecordBatch::try_from_iter_with_nullable(columns)
    }

    fn key(&mut self, key: &Key, words: Words) {
        let By { server, client, uid, gid, file, directory } = self.by;
        let wanted = [
            (server, words.hosts, key.server),
            (client, words.hosts, key.client),
            (file, words.paths, key.file),
            (directory, words.paths, key.directory),
            (true, words.ops, key.op),
        ];
        for (builder, (wanted, list, id)) in self.words.iter_mut().zip(wanted) {
            if wanted {
                builder.append_value(&list.names()[id as usize]);
            }
        }
        for (builder, (wanted, id)) in self.ids.iter_mut().zip([(uid, key.uid), (gid, key.gid)]) {
            if wanted {
                builder.append_option(id.checked_sub(1).map(|id| id as u32));
            }
        }
    }

    fn tally(&mut self, tally: &Tally) {
        self.sums.iter_mut().zip(tally.sums).for_each(|(builder, sum)| builder.append_value(sum));
        let ([.., latency_sum], answered) = (tally.sums, tally.latency.total());
        let mean = latency_sum as f64 / answered as f64;
        self.mean.append_option((answered > 0).then_some(mean));
        let quantile = |percent| tally.latency.quantile(percent).min(tally.latency_max);
        let numbers = [quantile(50), quantile(90), quantile(99), tally.latency_max];
        for (builder, number) in self.quantiles.iter_mut().zip(numbers) {
            builder.append_option((answered > 0).then_some(number));
        }
        let buckets = self.latency.values();
        tally.latency.counts(|bucket, count| {
            for (field, value) in [(0, low(bucket)), (1, count)] {
                if let Some(builder) = buckets.field_builder::<UInt64Builder>(field) {
                    builder.append_value(value);
                }
            }
            buckets.append(true);
        });
        self.latency.append(true);
    }
}
