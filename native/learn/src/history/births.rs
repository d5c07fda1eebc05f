//! Creates, and the lives that followed from them, as Arrow columns.

use super::record::Use;
use super::Error;
use arrow_array::types::{TimestampMicrosecondType, UInt32Type, UInt64Type};
use arrow_array::{Array, LargeBinaryArray, PrimitiveArray, RecordBatch, StringArray};

type Time = PrimitiveArray<TimestampMicrosecondType>;
type U32 = PrimitiveArray<UInt32Type>;
type U64 = PrimitiveArray<UInt64Type>;

/// What is known when files are created, as in `features/creates.py`.
pub struct Creates<'a> {
    name: &'a LargeBinaryArray,
    dir_fh: &'a LargeBinaryArray,
    dir_name: &'a LargeBinaryArray,
    mode: &'a U32,
    uid: &'a U32,
    client: &'a StringArray,
    time: &'a Time,
}

impl<'a> Creates<'a> {
    /// Finds the columns; `time` is the name of the one that says when.
    pub fn new(batch: &'a RecordBatch, time: &str) -> Result<Creates<'a>, Error> {
        if u32::try_from(batch.num_rows()).is_err() {
            return Err(Error::Long(batch.num_rows()));
        }
        Ok(Creates {
            name: column(batch, "name")?,
            dir_fh: column(batch, "dir_fh")?,
            dir_name: column(batch, "dir_name")?,
            mode: column(batch, "mode")?,
            uid: column(batch, "uid")?,
            client: column(batch, "client")?,
            time: column(batch, time)?,
        })
    }

    /// How many there are.
    pub fn rows(&self) -> usize {
        self.time.len()
    }

    /// When it was.
    #[inline]
    pub fn time(&self, row: usize) -> Option<i64> {
        self.time.is_valid(row).then(|| self.time.value(row))
    }

    /// The name given.
    #[inline]
    pub fn name(&self, row: usize) -> Option<&'a [u8]> {
        bytes(self.name, row)
    }

    /// The handle of the directory.
    #[inline]
    pub fn dir_fh(&self, row: usize) -> Option<&'a [u8]> {
        bytes(self.dir_fh, row)
    }

    /// The directory's own name.
    #[inline]
    pub fn dir_name(&self, row: usize) -> Option<&'a [u8]> {
        bytes(self.dir_name, row)
    }

    /// The permission bits that it carries.
    #[inline]
    pub fn mode(&self, row: usize) -> Option<u32> {
        self.mode.is_valid(row).then(|| self.mode.value(row))
    }

    /// The user who asked for it.
    #[inline]
    pub fn uid(&self, row: usize) -> Option<u32> {
        self.uid.is_valid(row).then(|| self.uid.value(row))
    }

    /// The host that asked for it.
    #[inline]
    pub fn client(&self, row: usize) -> Option<&'a str> {
        self.client.is_valid(row).then(|| self.client.value(row))
    }
}

/// Lives, as in `data/schema.py`, of files or of names.
pub struct Lives<'a> {
    /// Their births; no time where there is nothing to tell or to learn.
    pub creates: Creates<'a>,
    /// Until when any of them was observed.
    pub end: i64,
    server: &'a StringArray,
    fh: &'a LargeBinaryArray,
    died: &'a Time,
    last: Uses<'a>,
    early: Option<Uses<'a>>,
}

/// How large files were, and how they were used.
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
        let until: &Time = column(batch, "observed_until")?;
        let early = batch.column_by_name("early_size").is_some();
        Ok(Lives {
            creates: Creates::new(batch, "born")?,
            end: until.iter().flatten().max().unwrap_or(i64::MIN),
            server: column(batch, "server")?,
            fh: column(batch, "fh")?,
            died: column(batch, "died")?,
            last: Uses::new(batch, "")?,
            early: if early { Some(Uses::new(batch, "early_")?) } else { None },
        })
    }

    /// The rows whose birth was seen, in the order of the births. What can tell births of one
    /// instant apart is known when they are born.
    pub fn in_order(&self) -> Vec<u32> {
        let born = &self.creates;
        let mut rows: Vec<u32> =
            (0..born.rows() as u32).filter(|&row| born.time.is_valid(row as usize)).collect();
        let server = |row: usize| self.server.is_valid(row).then(|| self.server.value(row));
        let key = |row: usize| (server(row), born.dir_fh(row), born.name(row), bytes(self.fh, row));
        rows.sort_by(|&a, &b| {
            let (a, b) = (a as usize, b as usize);
            born.time.value(a).cmp(&born.time.value(b)).then_with(|| key(a).cmp(&key(b)))
        });
        rows
    }

    /// When a life began that was seen to.
    #[inline]
    pub fn born(&self, row: usize) -> i64 {
        self.creates.time.value(row)
    }

    /// When it ended, if that was seen; not before it began.
    #[inline]
    pub fn died(&self, row: usize) -> Option<i64> {
        self.died.is_valid(row).then(|| self.died.value(row).max(self.born(row)))
    }

    /// Whether it is told what young files were like.
    pub fn have_early(&self) -> bool {
        self.early.is_some()
    }

    /// How large it was, and how it was used, when it ended.
    pub fn last_use(&self, row: usize) -> Use {
        self.last.of(row)
    }

    /// The same when it was young, where that is told.
    pub fn early_use(&self, row: usize) -> Use {
        self.early.as_ref().map(|early| early.of(row)).unwrap_or_default()
    }
}

impl<'a> Uses<'a> {
    fn new(batch: &'a RecordBatch, prefix: &str) -> Result<Uses<'a>, Error> {
        Ok(Uses {
            size: column(batch, &format!("{prefix}size"))?,
            reads: column(batch, &format!("{prefix}reads"))?,
            writes: column(batch, &format!("{prefix}writes"))?,
            atime: column(batch, &format!("{prefix}atime"))?,
            mtime: column(batch, &format!("{prefix}mtime"))?,
        })
    }

    fn of(&self, row: usize) -> Use {
        let number = |column: &U64| column.is_valid(row).then(|| column.value(row));
        let time = |column: &Time| column.is_valid(row).then(|| column.value(row));
        let (reads, writes) = (number(self.reads), number(self.writes));
        let read_after = time(self.atime).zip(time(self.mtime)).map(|(a, m)| a > m);
        Use {
            size: number(self.size),
            // less than a read to five writes, as the predicate has it
            write_only: reads.zip(writes).map(|(reads, writes)| reads.saturating_mul(5) < writes),
            read_after_write: if writes == Some(0) { Some(false) } else { read_after },
        }
    }
}

#[inline]
fn bytes(column: &LargeBinaryArray, row: usize) -> Option<&[u8]> {
    column.is_valid(row).then(|| column.value(row))
}

/// A column, which must be of that type.
pub fn column<'a, T: Array + 'static>(batch: &'a RecordBatch, name: &str) -> Result<&'a T, Error> {
    let column = batch.column_by_name(name).ok_or_else(|| Error::Missing(name.into()))?;
    column.as_any().downcast_ref().ok_or_else(|| Error::Type {
        column: name.into(),
        found: column.data_type().to_string(),
        expected: std::any::type_name::<T>().into(),
    })
}
