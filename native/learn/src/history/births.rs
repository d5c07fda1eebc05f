//! Creates, and the lives that follow them, as Arrow columns.

use super::keys::Create;
use super::record::Use;
use super::Error;
use arrow_array::types::{TimestampMicrosecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, LargeBinaryArray, PrimitiveArray, RecordBatch, StringArray};
use birthmark_columns::columns;
use birthmark_columns::{bytes, get, ColumnError, Source};

type Time = PrimitiveArray<TimestampMicrosecondType>;
type U32 = PrimitiveArray<UInt32Type>;
type U64 = PrimitiveArray<UInt64Type>;

/// The columns of creates, as in `features/creates.py`.
pub struct Creates<'a> {
    /// The name given.
    pub name: &'a LargeBinaryArray,
    /// The handle of the directory.
    pub dir_fh: &'a LargeBinaryArray,
    /// The directory's own name.
    pub dir_name: &'a LargeBinaryArray,
    /// The permission bits that it carries.
    pub mode: &'a U32,
    /// The caller's user.
    pub uid: &'a U32,
    /// The caller's host.
    pub client: &'a StringArray,
    /// The time of the create.
    pub time: &'a Time,
}

impl<'a> Creates<'a> {
    /// Finds the columns; `time` is the name of the time's column.
    pub fn new(batch: &'a RecordBatch, time: &str) -> Result<Creates<'a>, Error> {
        if u32::try_from(batch.num_rows()).is_err() {
            return Err(Error::Long(batch.num_rows()));
        }
        let source = Source::Table(batch);
        Ok(columns!(source, "", Creates {
            name, dir_fh, dir_name, mode, uid, client;
            time: source.array(time)?,
        }))
    }

    /// The create of a row.
    #[inline]
    pub fn row(&self, row: usize) -> Create<'a> {
        Create {
            name: bytes(self.name, row),
            dir_fh: bytes(self.dir_fh, row),
            dir_name: bytes(self.dir_name, row),
            mode: get(self.mode, row),
            uid: get(self.uid, row),
            client: bytes(self.client, row),
        }
    }

    /// The number of creates.
    pub fn rows(&self) -> usize {
        self.time.len()
    }
}

/// Lives, as in `data/schema.py`, of files or of names.
pub struct Lives<'a> {
    /// Their births; without a time, a row has no history and is not learned.
    pub creates: Creates<'a>,
    /// The end of the last observation.
    pub end: i64,
    server: &'a StringArray,
    fh: &'a LargeBinaryArray,
    dir_named: &'a Time,
    died: &'a Time,
    last: Uses<'a>,
    early: Option<Uses<'a>>,
}

/// Columns of the sizes and the use of files.
struct Uses<'a> {
    size: &'a U64,
    reads: &'a U64,
    writes: &'a U64,
    atime: &'a Time,
    mtime: &'a Time,
}

impl<'a> Lives<'a> {
    /// Finds the columns. Those that begin with `early_` may be missing.
    pub fn new(batch: &'a RecordBatch) -> Result<Lives<'a>, Error> {
        let source = Source::Table(batch);
        let until: &Time = source.array("observed_until")?;
        let early = source.column("early_size").is_ok();
        Ok(columns!(source, "", Lives {
            server, fh, dir_named, died;
            creates: Creates::new(batch, "born")?,
            end: until.iter().flatten().max().unwrap_or(i64::MIN),
            last: Uses::new(&source, "")?,
            early: early.then(|| Uses::new(&source, "early_")).transpose()?,
        }))
    }

    /// The rows whose birth was seen, in the order of the births. Births of one instant are ordered
    /// only by data known at birth.
    pub fn in_order(&self) -> Vec<u32> {
        let born = &self.creates;
        let mut rows: Vec<u32> =
            (0..born.rows() as u32).filter(|&row| born.time.is_valid(row as usize)).collect();
        let key = |row: usize| {
            let (server, fh) = (bytes(self.server, row), bytes(self.fh, row));
            (server, bytes(born.dir_fh, row), bytes(born.name, row), fh)
        };
        rows.sort_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            born.time.value(a).cmp(&born.time.value(b)).then_with(|| key(a).cmp(&key(b)))
        });
        rows
    }

    /// The birth time of a life whose birth was seen.
    #[inline]
    pub fn born(&self, row: usize) -> i64 {
        self.creates.time.value(row)
    }

    /// The create as known at an earlier time, when its directory may not yet have been named.
    #[inline]
    pub fn known(&self, row: usize, at: i64) -> Create<'a> {
        let create = self.creates.row(row);
        let named = get(self.dir_named, row).is_none_or(|seen| seen <= at);
        Create { dir_name: create.dir_name.filter(|_| named), ..create }
    }

    /// The time of death, if it was seen; not before the birth.
    #[inline]
    pub fn died(&self, row: usize) -> Option<i64> {
        get(self.died, row).map(|died| died.max(self.born(row)))
    }

    /// Whether there are columns of early use.
    pub fn have_early(&self) -> bool {
        self.early.is_some()
    }

    /// The size and use at the end of a life.
    pub fn last_use(&self, row: usize) -> Use {
        self.last.of(row)
    }

    /// The early size and use, if there are such columns.
    pub fn early_use(&self, row: usize) -> Use {
        self.early.as_ref().map(|early| early.of(row)).unwrap_or_default()
    }
}

impl<'a> Uses<'a> {
    fn new(source: &Source<'a>, prefix: &str) -> Result<Uses<'a>, ColumnError> {
        Ok(columns!(source, prefix, Uses { size, reads, writes, atime, mtime; }))
    }

    fn of(&self, row: usize) -> Use {
        Use::new(
            get(self.size, row),
            (get(self.reads, row), get(self.writes, row)),
            (get(self.atime, row), get(self.mtime, row)),
        )
    }
}
