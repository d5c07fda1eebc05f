//! Batches of a build, turned into what runs need.

use super::creates::Create;
use super::operation::{Operation, Procedure, NONE, NO_SIZE};
use super::trace::{fits, Entry, Trace, What};
use super::Error;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int32Type, Int64Type, TimestampMicrosecondType, UInt32Type, UInt64Type,
};
use arrow_array::{Array, BinaryArray, DictionaryArray, PrimitiveArray, RecordBatch, StringArray};

/// Bytes that an entry's name has at most.
const LONGEST: usize = 255;
/// Microseconds of an hour.
const HOUR: i64 = 3_600_000_000;

impl Trace {
    /// Takes rows of a manifest, directories before what they hold.
    pub fn add_manifest(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let rows = Rows { table: "manifest", first: self.manifest.len(), batch };
        let (ids, parents) =
            (rows.numbers::<Int64Type>("id")?, rows.numbers::<Int64Type>("parent")?);
        let (names, kinds) = (rows.bytes("name")?, rows.words("kind")?);
        let (sizes, targets) = (rows.numbers::<UInt64Type>("size")?, rows.bytes("target")?);
        let modes = rows.numbers::<UInt32Type>("mode")?;
        let owners = rows.numbers::<UInt32Type>("owner")?;
        let groups = rows.numbers::<UInt32Type>("group")?;
        for row in 0..batch.num_rows() {
            let id = rows.value(ids, row, "id")?;
            let parent = self.known(get(parents, row));
            if parent == NONE {
                return Err(rows.wrong(row, "its directory is not in a row before"));
            }
            let name = rows.name(self, names, row, "name")?;
            let what = match kinds.get(row).ok_or_else(|| rows.wrong(row, "no kind"))? {
                "file" => What::File,
                "directory" => What::Directory,
                "symlink" => What::Symlink(bytes(targets, row).map_or(7, |t| t.len() as u32)),
                "fifo" | "socket" | "block" | "character" => What::Node,
                other => return Err(rows.wrong(row, format!("no kind of object: {other:?}"))),
            };
            let size = get(sizes, row).unwrap_or(0);
            if size == NO_SIZE || !fits(0, size) {
                return Err(rows.wrong(row, format!("size {size}: expected less than 2^63")));
            }
            let mut object = self.known(Some(id));
            let mut place = NONE;
            if object == NONE {
                object = self.add(id).ok_or_else(|| rows.wrong(row, "too many objects"))?;
                let (mode, uid, gid) = (get(modes, row), get(owners, row), get(groups, row));
                let directory = what == What::Directory;
                place = self.ask(Create { name, object, directory, mode, uid, gid, hour: None });
            }
            self.manifest.push(Entry { object, parent, name, what, size, place });
        }
        Ok(())
    }

    /// Takes operations, in order.
    pub fn add_operations(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let rows = Rows { table: "operations", first: self.operations.len(), batch };
        let columns = Columns::of(&rows)?;
        self.operations.reserve(batch.num_rows());
        for row in 0..batch.num_rows() {
            let operation = self.operation(&rows, &columns, row)?;
            self.operations.push(operation);
        }
        Ok(())
    }

    fn operation(
        &mut self,
        rows: &Rows,
        columns: &Columns,
        row: usize,
    ) -> Result<Operation, Error> {
        let word = columns.ops.get(row).ok_or_else(|| rows.wrong(row, "no op"))?;
        let procedure = Procedure::of(word)
            .ok_or_else(|| rows.wrong(row, format!("op {word:?}: no procedure of a build")))?;
        let failed = rows.value(columns.statuses, row, "status")? != 0;
        let time = rows.value(columns.times, row, "time")?;
        let object = self.known(Some(rows.value(columns.ids, row, "id")?));
        if object == NONE && !failed {
            return Err(rows.wrong(row, "id: neither in the manifest nor made by a row before"));
        }
        let name = match procedure.is_named() {
            true => rows.name(self, columns.names, row, "name")?,
            false => NONE,
        };
        let mut made = Operation {
            time,
            offset: NO_SIZE,
            procedure,
            failed,
            object,
            name,
            second: NONE,
            other: NONE,
        };
        match procedure {
            Procedure::Read | Procedure::Write => {
                made.offset = get(columns.offsets, row).unwrap_or(0);
                made.other = get(columns.counts, row).unwrap_or(0);
            }
            Procedure::Setattr => made.offset = get(columns.sizes, row).unwrap_or(NO_SIZE),
            Procedure::Readdir | Procedure::Readdirplus => {
                made.offset = get(columns.cookies, row).unwrap_or(0);
            }
            Procedure::Lookup => made.second = self.known(get(columns.new_ids, row)),
            Procedure::Rename | Procedure::Link => {
                made.second = self.known(get(columns.second_ids, row));
                if made.second == NONE && !failed {
                    return Err(rows.wrong(row, "id2: no directory that a row before knows"));
                }
                if procedure == Procedure::Rename {
                    made.other = rows.name(self, columns.second_names, row, "name2")?;
                }
            }
            _ => {}
        }
        if procedure.makes() && !failed {
            self.create(rows, columns, row, &mut made)?;
        }
        let count = if procedure == Procedure::Write { u64::from(made.other) } else { 0 };
        let cookie = matches!(procedure, Procedure::Readdir | Procedure::Readdirplus);
        if !cookie && !fits(made.offset, count) && procedure != Procedure::Read {
            return Err(rows.wrong(row, "it ends beyond 2^63 bytes"));
        }
        Ok(made)
    }

    /// What is made, unless it was there.
    fn create(
        &mut self,
        rows: &Rows,
        columns: &Columns,
        row: usize,
        made: &mut Operation,
    ) -> Result<(), Error> {
        made.offset = match made.procedure {
            Procedure::Symlink => bytes(columns.targets, row).map_or(7, |t| t.len() as u64),
            _ => get(columns.sizes, row).unwrap_or(NO_SIZE),
        };
        let id = get(columns.new_ids, row);
        made.second = self.known(id);
        if made.second != NONE {
            return Ok(());
        }
        let id = id.ok_or_else(|| rows.wrong(row, "new_id: expected what was made"))?;
        made.second = self.add(id).ok_or_else(|| rows.wrong(row, "too many objects"))?;
        made.other = self.ask(Create {
            name: made.name,
            object: made.second,
            directory: made.procedure == Procedure::Mkdir,
            mode: get(columns.modes, row),
            uid: get(columns.owners, row).or(get(columns.uids, row)),
            gid: get(columns.groups, row).or(get(columns.gids, row)),
            hour: Some((made.time.div_euclid(HOUR)).rem_euclid(24) as u8),
        });
        Ok(())
    }
}

/// The columns of the operations.
struct Columns<'a> {
    times: &'a PrimitiveArray<TimestampMicrosecondType>,
    ops: Words<'a>,
    statuses: &'a PrimitiveArray<UInt32Type>,
    uids: &'a PrimitiveArray<UInt32Type>,
    gids: &'a PrimitiveArray<UInt32Type>,
    ids: &'a PrimitiveArray<Int64Type>,
    names: &'a BinaryArray,
    second_ids: &'a PrimitiveArray<Int64Type>,
    second_names: &'a BinaryArray,
    new_ids: &'a PrimitiveArray<Int64Type>,
    offsets: &'a PrimitiveArray<UInt64Type>,
    counts: &'a PrimitiveArray<UInt32Type>,
    cookies: &'a PrimitiveArray<UInt64Type>,
    targets: &'a BinaryArray,
    modes: &'a PrimitiveArray<UInt32Type>,
    owners: &'a PrimitiveArray<UInt32Type>,
    groups: &'a PrimitiveArray<UInt32Type>,
    sizes: &'a PrimitiveArray<UInt64Type>,
}

impl<'a> Columns<'a> {
    fn of(rows: &Rows<'a>) -> Result<Columns<'a>, Error> {
        Ok(Columns {
            times: rows.numbers("time")?,
            ops: rows.words("op")?,
            statuses: rows.numbers("status")?,
            uids: rows.numbers("uid")?,
            gids: rows.numbers("gid")?,
            ids: rows.numbers("id")?,
            names: rows.bytes("name")?,
            second_ids: rows.numbers("id2")?,
            second_names: rows.bytes("name2")?,
            new_ids: rows.numbers("new_id")?,
            offsets: rows.numbers("offset")?,
            counts: rows.numbers("count")?,
            cookies: rows.numbers("cookie")?,
            targets: rows.bytes("target")?,
            modes: rows.numbers("mode")?,
            owners: rows.numbers("owner")?,
            groups: rows.numbers("group")?,
            sizes: rows.numbers("size")?,
        })
    }
}

/// A batch, and where it is in its table.
struct Rows<'a> {
    table: &'static str,
    first: usize,
    batch: &'a RecordBatch,
}

impl<'a> Rows<'a> {
    fn column<T>(
        &self,
        name: &str,
        expected: &str,
        of: impl Fn(&'a dyn Array) -> Option<&'a T>,
    ) -> Result<&'a T, Error> {
        let found = self.batch.column_by_name(name).and_then(|column| of(column.as_ref()));
        found.ok_or_else(|| {
            Error::Column(format!("{}: expected a column {name}: {expected}", self.table))
        })
    }

    fn numbers<T: ArrowPrimitiveType>(&self, name: &str) -> Result<&'a PrimitiveArray<T>, Error> {
        self.column(name, &T::DATA_TYPE.to_string(), |column| column.as_any().downcast_ref())
    }

    fn bytes(&self, name: &str) -> Result<&'a BinaryArray, Error> {
        self.column(name, "Binary", |column| column.as_binary_opt())
    }

    fn words(&self, name: &str) -> Result<Words<'a>, Error> {
        let expected = "Dictionary(Int32, Utf8)";
        let column: &DictionaryArray<Int32Type> =
            self.column(name, expected, |column| column.as_any().downcast_ref())?;
        match column.values().as_string_opt() {
            Some(words) => Ok(Words { column, words }),
            None => Err(Error::Column(format!("{}: {name}: expected {expected}", self.table))),
        }
    }

    fn value<T: ArrowPrimitiveType>(
        &self,
        column: &PrimitiveArray<T>,
        row: usize,
        name: &str,
    ) -> Result<T::Native, Error> {
        get(column, row).ok_or_else(|| self.wrong(row, format!("no {name}")))
    }

    /// The number of a name that an entry can have.
    fn name(
        &self,
        trace: &mut Trace,
        column: &BinaryArray,
        row: usize,
        which: &str,
    ) -> Result<u32, Error> {
        let name = bytes(column, row).ok_or_else(|| self.wrong(row, format!("no {which}")))?;
        if name.is_empty() || name.len() > LONGEST || name.iter().any(|&b| b == b'/' || b == 0) {
            return Err(self.wrong(row, format!("{which}: no name of an entry")));
        }
        trace.names.intern(name).ok_or_else(|| self.wrong(row, "more than 4 GB of names"))
    }

    fn wrong(&self, row: usize, what: impl Into<String>) -> Error {
        Error::Row { table: self.table, row: self.first + row, what: what.into() }
    }
}

/// A column of words.
struct Words<'a> {
    column: &'a DictionaryArray<Int32Type>,
    words: &'a StringArray,
}

impl<'a> Words<'a> {
    fn get(&self, row: usize) -> Option<&'a str> {
        let key = self.column.key(row)?;
        (key < self.words.len() && self.words.is_valid(key)).then(|| self.words.value(key))
    }
}

#[inline]
fn get<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    column.is_valid(row).then(|| column.value(row))
}

#[inline]
fn bytes(column: &BinaryArray, row: usize) -> Option<&[u8]> {
    column.is_valid(row).then(|| column.value(row))
}
