//! The columns of the operations table that lives read, typed and resolved once per batch.

use super::hosts::number;
use super::life::{Attributes, Caller, Kind, Operation};
use arrow_array::types::{TimestampMicrosecondType, UInt32Type, UInt64Type, UInt8Type};
use arrow_array::{Array, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch};
use birthmark_columns::columns;
use birthmark_columns::{get, places, ColumnError, Source};
use birthmark_trace::budget::Budget;
use birthmark_trace::message::Interner;
use birthmark_trace::schema::{Op, OPS};

type U8<'a> = &'a PrimitiveArray<UInt8Type>;
type U32<'a> = &'a PrimitiveArray<UInt32Type>;
type U64<'a> = &'a PrimitiveArray<UInt64Type>;
type Time<'a> = &'a PrimitiveArray<TimestampMicrosecondType>;

/// The columns of a batch of operations, named as there.
#[allow(missing_docs)]
pub struct Columns<'a> {
    time: Time<'a>,
    reply_time: Time<'a>,
    servers: Vec<u32>,
    clients: Vec<u32>,
    ops: Vec<Option<Op>>,
    pub status: U32<'a>,
    uid: U32<'a>,
    gid: U32<'a>,
    pub fh: &'a BinaryArray,
    pub name: &'a BinaryArray,
    pub fh2: &'a BinaryArray,
    pub name2: &'a BinaryArray,
    pub new_fh: &'a BinaryArray,
    pub offset: U64<'a>,
    pub count: U32<'a>,
    pub how: U8<'a>,
    pub set_ftype: U8<'a>,
    pub set_mode: U32<'a>,
    pub set_size: U64<'a>,
    pub set_atime_how: U8<'a>,
    pub set_mtime_how: U8<'a>,
    pub reply_count: U32<'a>,
    /// The columns that only version 4 has, if the batch has any.
    pub version4: Option<Version4<'a>>,
    /// The attributes of the object.
    pub object: AttributeColumns<'a>,
    /// The attributes of the directory of `name`.
    pub dir: AttributeColumns<'a>,
    pub dir_pre_mtime: Time<'a>,
    /// The attributes of the directory of `name2`.
    pub dir2: AttributeColumns<'a>,
    /// The entries listed by a readdirplus.
    pub entries: Entries<'a>,
}

impl<'a> Columns<'a> {
    /// Finds the columns, and the numbers of their hosts.
    pub fn new(
        batch: &'a RecordBatch,
        servers: &mut Interner,
        clients: &mut Interner,
        budget: Budget,
    ) -> Result<Columns<'a>, ColumnError> {
        let source = Source::Batch(batch);
        Ok(columns!(source, "", Columns {
            reply_time, status, uid, gid, fh, name, fh2, name2, new_fh, offset, count, how,
            set_ftype, set_mode, set_size, set_atime_how, set_mtime_how, reply_count, dir_pre_mtime;
            time: source.required("time")?,
            servers: source.words("server", |word| number(servers, word, budget))?,
            clients: source.words("client", |word| number(clients, word, budget))?,
            ops: source.words("op", op_of)?,
            version4: Version4::new(&source)?,
            object: AttributeColumns::new(&source, "")?,
            dir: AttributeColumns::new(&source, "dir_")?,
            dir2: AttributeColumns::new(&source, "dir2_")?,
            entries: Entries::new(&source)?,
        }))
    }

    /// The operation's caller, server and times.
    #[inline]
    pub fn operation(&self, row: usize) -> Operation {
        let time = self.time.value(row);
        Operation {
            server: self.servers[row],
            time,
            at: get(self.reply_time, row).unwrap_or(time),
            caller: Caller {
                uid: get(self.uid, row),
                gid: get(self.gid, row),
                client: self.clients[row],
            },
        }
    }

    /// Whether the call of a row got no reply.
    #[inline]
    pub fn unanswered(&self, row: usize) -> bool {
        self.reply_time.is_null(row)
    }

    /// The bytes that a write stored, and the offset of their end.
    pub fn written(&self, row: usize) -> (u64, Option<u64>) {
        let count = get(self.reply_count, row).or(get(self.count, row));
        let bytes = u64::from(count.unwrap_or(0));
        let offset = get(self.offset, row).filter(|_| bytes > 0);
        (bytes, offset.map(|offset| offset.saturating_add(bytes)))
    }

    /// The procedure; none for a word that is not NFS's.
    #[inline]
    pub fn op(&self, row: usize) -> Option<Op> {
        self.ops[row]
    }
}

/// The columns of version 4, named as in the operations table.
#[allow(missing_docs)]
pub struct Version4<'a> {
    pub compound_index: U32<'a>,
    pub set_umask: U32<'a>,
    pub attributes_set: &'a BinaryArray,
    pub dir_change_atomic: &'a BooleanArray,
    pub dir_pre_change: U64<'a>,
    pub dir_change: U64<'a>,
    /// The columns of layouts.
    pub layouts: Option<Layouts<'a>>,
}

/// The columns of layouts.
#[allow(missing_docs)]
pub struct Layouts<'a> {
    pub layout_type: U32<'a>,
    pub stripe_unit: U64<'a>,
    pub last_offset: U64<'a>,
}

impl<'a> Layouts<'a> {
    /// None for a table that predates these columns.
    fn new(source: &Source<'a>) -> Result<Option<Layouts<'a>>, ColumnError> {
        if source.column("stripe_unit").is_err() {
            return Ok(None);
        }
        Ok(Some(columns!(source, "", Layouts { layout_type, stripe_unit, last_offset; })))
    }
}

impl<'a> Version4<'a> {
    /// None for a batch without version 4. Older tables lack some of the columns.
    fn new(source: &Source<'a>) -> Result<Option<Version4<'a>>, ColumnError> {
        let index = source.column("compound_index");
        if !index.is_ok_and(|index| index.null_count() < index.len()) {
            return Ok(None);
        }
        Ok(Some(columns!(source, "", Version4 {
            compound_index, set_umask, attributes_set, dir_change_atomic, dir_pre_change,
            dir_change;
            layouts: Layouts::new(source)?,
        })))
    }
}

fn op_of(word: &str) -> Option<Op> {
    OPS.iter().position(|&op| op == word).map(|i| Op::ALL[i])
}

/// The columns of one set of attributes.
pub struct AttributeColumns<'a> {
    any: bool,
    ftype: U8<'a>,
    nlink: U32<'a>,
    owner: U32<'a>,
    group: U32<'a>,
    size: U64<'a>,
    atime: Time<'a>,
    mtime: Time<'a>,
    ctime: Option<Time<'a>>,
}

impl<'a> AttributeColumns<'a> {
    fn new(source: &Source<'a>, prefix: &str) -> Result<AttributeColumns<'a>, ColumnError> {
        let mut columns = columns!(source, prefix, AttributeColumns {
            ftype, nlink, owner, group, size, atime, mtime;
            any: true,
            ctime: source.needed(prefix.is_empty(), "ctime")?,
        });
        columns.any = columns.arrays().iter().any(|a| a.null_count() < a.len());
        Ok(columns)
    }

    fn arrays(&self) -> [&dyn Array; 7] {
        [self.ftype, self.nlink, self.owner, self.group, self.size, self.atime, self.mtime]
    }

    /// The attributes in a row.
    #[inline]
    pub fn get(&self, row: usize) -> Attributes {
        if !self.any {
            return Attributes::default();
        }
        Attributes {
            kind: get(self.ftype, row).and_then(Kind::from_ftype),
            nlink: get(self.nlink, row),
            owner: get(self.owner, row),
            group: get(self.group, row),
            size: get(self.size, row),
            atime: get(self.atime, row),
            mtime: get(self.mtime, row),
            ctime: self.ctime.and_then(|ctime| get(ctime, row)),
        }
    }
}

/// The `entries` column: lists of directory entries.
pub struct Entries<'a> {
    lists: &'a ListArray,
    /// Their names.
    pub name: &'a BinaryArray,
    /// Their handles.
    pub fh: &'a BinaryArray,
    /// The mirrors of a layout's handles. Hand-made tables may lack this column.
    pub cookie: Option<U64<'a>>,
    /// Their attributes.
    pub attributes: AttributeColumns<'a>,
}

impl<'a> Entries<'a> {
    fn new(source: &Source<'a>) -> Result<Entries<'a>, ColumnError> {
        let (lists, inner) = source.lists("entries", "list<struct>")?;
        let attributes = AttributeColumns::new(&inner, "")?;
        Ok(columns!(inner, "", Entries {
            name, fh;
            lists: lists,
            cookie: inner.needed(inner.column("cookie").is_ok(), "cookie")?,
            attributes: attributes,
        }))
    }

    /// The indices of a row's entries in `name`, `fh` and `attributes`.
    pub fn of(&self, row: usize) -> std::ops::Range<usize> {
        places(self.lists, row)
    }
}
