//! Sums rows of a scan's table, into wider periods and fewer keys.

use super::cells::{By, Key, Periods, Tally, SUMS};
use super::histogram::bucket;
use super::rows::{Rows, Words};
use arrow_array::types::{TimestampMicrosecondType, UInt32Type, UInt64Type};
use arrow_array::{PrimitiveArray, RecordBatch, StringArray};
use arrow_schema::ArrowError;
use birthmark_columns::columns;
use birthmark_columns::{get, ColumnError, Source};
use birthmark_trace::message::Interner;

type U64<'a> = &'a PrimitiveArray<UInt64Type>;

/// Takes rows in any order, and gives sums.
pub struct Merger {
    by: By,
    periods: Periods,
    rows: Rows,
    hosts: Interner,
    paths: Interner,
    ops: Interner,
}

impl Merger {
    /// Returns a merger by keys, with periods one of which begins at `origin`.
    pub fn new(by: By, period: i64, origin: i64) -> Merger {
        let (hosts, paths, ops) = Default::default();
        let (periods, rows) = (Periods::new(period, origin), Rows::new(by, period));
        Merger { by, periods, rows, hosts, paths, ops }
    }

    /// Takes rows.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), ColumnError> {
        let columns = Columns::new(batch, self.by)?;
        for row in 0..batch.num_rows() {
            let key = self.key(&columns, row);
            let cell = self.periods.at(columns.time.value(row)).entry(key).or_default();
            cell.merge(&columns.tally(row));
        }
        Ok(())
    }

    /// Makes rows of the periods that end no later than `time`.
    pub fn close(&mut self, time: i64) {
        let words = Words { hosts: &self.hosts, paths: &self.paths, ops: &self.ops };
        for (start, cells) in self.periods.take(time) {
            self.rows.add(start, &cells, words);
        }
        if self.periods.first_end() == i64::MAX {
            self.paths = Interner::default(); // no open period has paths
        }
    }

    /// The rows made since the last call.
    pub fn take(&mut self) -> Result<RecordBatch, ArrowError> {
        self.rows.take()
    }

    fn key(&mut self, columns: &Columns, row: usize) -> Key {
        let word = |list: &mut Interner, column: Option<&StringArray>| {
            column.map_or(0, |column| list.intern(column.value(row)))
        };
        let id = |column: Option<&PrimitiveArray<UInt32Type>>| {
            column.and_then(|column| get(column, row)).map_or(0, |id| u64::from(id) + 1)
        };
        Key {
            server: word(&mut self.hosts, columns.server),
            client: word(&mut self.hosts, columns.client),
            uid: id(columns.uid),
            gid: id(columns.gid),
            file: word(&mut self.paths, columns.file),
            directory: word(&mut self.paths, columns.directory),
            op: word(&mut self.ops, Some(columns.op)),
        }
    }
}

/// The columns of a scan's table.
struct Columns<'a> {
    time: &'a PrimitiveArray<TimestampMicrosecondType>,
    server: Option<&'a StringArray>,
    client: Option<&'a StringArray>,
    uid: Option<&'a PrimitiveArray<UInt32Type>>,
    gid: Option<&'a PrimitiveArray<UInt32Type>>,
    file: Option<&'a StringArray>,
    directory: Option<&'a StringArray>,
    op: &'a StringArray,
    sums: Vec<U64<'a>>,
    latency_max: U64<'a>,
    offsets: &'a [i32],
    us: U64<'a>,
    counts: U64<'a>,
}

impl<'a> Columns<'a> {
    fn new(batch: &'a RecordBatch, by: By) -> Result<Columns<'a>, ColumnError> {
        let source = Source::Batch(batch);
        let (lists, inner) = source.lists("latency", "list<struct<us, ops>>")?;
        Ok(columns!(source, "", Columns {
            op, latency_max;
            time: source.required("time")?,
            server: source.needed(by.server, "server")?,
            client: source.needed(by.client, "client")?,
            uid: source.needed(by.uid, "uid")?,
            gid: source.needed(by.gid, "gid")?,
            file: source.needed(by.file, "file")?,
            directory: source.needed(by.directory, "directory")?,
            sums: SUMS.iter().map(|name| source.required(name)).collect::<Result<_, _>>()?,
            offsets: lists.value_offsets(),
            us: inner.required("us")?,
            counts: inner.required("ops")?,
        }))
    }

    fn tally(&self, row: usize) -> Tally {
        let mut tally = Tally {
            sums: std::array::from_fn(|at| self.sums[at].value(row)),
            latency_max: get(self.latency_max, row).unwrap_or(0),
            ..Tally::default()
        };
        for at in self.offsets[row] as usize..self.offsets[row + 1] as usize {
            tally.latency.add(bucket(self.us.value(at)), self.counts.value(at));
        }
        tally
    }
}
