//! The columns of operations that a scan reads, checked once per batch.

use super::tree::{NodeId, Tree};
use super::Plan;
use arrow_array::types::{TimestampMicrosecondType, UInt32Type, UInt64Type, UInt8Type};
use arrow_array::{Array, BinaryArray, ListArray, PrimitiveArray, RecordBatch};
use birthmark_columns::columns;
use birthmark_columns::{bytes, get, places, ColumnError, Source};
use birthmark_trace::message::Interner;

type Time<'a> = &'a PrimitiveArray<TimestampMicrosecondType>;
type U8<'a> = &'a PrimitiveArray<UInt8Type>;
type U32<'a> = &'a PrimitiveArray<UInt32Type>;
type U64<'a> = &'a PrimitiveArray<UInt64Type>;

/// The columns that every scan reads.
pub const COUNTED: [&str; 8] =
    ["time", "reply_time", "server", "op", "status", "retransmits", "count", "reply_count"];
/// The columns that show the hierarchy.
pub const NAMED: [&str; 7] = ["fh", "name", "fh2", "name2", "new_fh", "ftype", "entries"];
/// The attributes in the file map, besides `ftype`.
pub const ATTRIBUTES: [&str; 7] = ["mode", "owner", "group", "size", "atime", "mtime", "ctime"];

/// The columns of a batch of operations.
#[allow(missing_docs)]
pub struct Columns<'a> {
    pub time: Time<'a>,
    pub reply_time: Time<'a>,
    pub servers: Vec<u32>,
    pub ops: Vec<u32>,
    pub status: U32<'a>,
    pub retransmits: U32<'a>,
    pub count: U32<'a>,
    pub reply_count: U32<'a>,
    pub clients: Option<Vec<u32>>,
    pub uid: Option<U32<'a>>,
    pub gid: Option<U32<'a>>,
    pub names: Option<Names<'a>>,
}

impl<'a> Columns<'a> {
    /// Resolves the columns that a plan needs; new hosts and procedures get numbers.
    pub fn new(
        batch: &'a RecordBatch,
        plan: &Plan,
        hosts: &mut Interner,
        ops: &mut Interner,
    ) -> Result<Columns<'a>, ColumnError> {
        let source = Source::Batch(batch);
        Ok(columns!(source, "", Columns {
            reply_time, status, count, reply_count;
            time: source.required("time")?,
            retransmits: source.required("retransmits")?,
            servers: source.words("server", |word| hosts.intern(word))?,
            ops: source.words("op", |word| ops.intern(word))?,
            clients: match plan.needs_clients() {
                true => Some(source.words("client", |word| hosts.intern(word))?),
                false => None,
            },
            uid: source.needed(plan.needs_uids(), "uid")?,
            gid: source.needed(plan.needs_gids(), "gid")?,
            names: match plan.needs_names() {
                true => Some(Names::new(&source, plan.files)?),
                false => None,
            },
        }))
    }
}

/// The columns that show the hierarchy and its files.
#[allow(missing_docs)]
pub struct Names<'a> {
    pub fh: &'a BinaryArray,
    pub name: &'a BinaryArray,
    pub fh2: &'a BinaryArray,
    pub name2: &'a BinaryArray,
    pub new_fh: &'a BinaryArray,
    pub ftype: U8<'a>,
    pub attributes: Option<Attributes<'a>>,
    pub dir_attributes: Option<Attributes<'a>>,
    lists: &'a ListArray,
    entry_name: &'a BinaryArray,
    entry_fh: &'a BinaryArray,
    entry_ftype: U8<'a>,
    pub entry_attributes: Option<Attributes<'a>>,
}

/// An entry of a directory listing that has a handle.
pub struct Entry<'a> {
    /// Its index in `entry_attributes`.
    pub at: usize,
    /// Its name.
    pub name: &'a [u8],
    /// Its handle.
    pub fh: &'a [u8],
    /// Whether it is a directory.
    pub directory: bool,
}

impl<'a> Names<'a> {
    fn new(source: &Source<'a>, files: bool) -> Result<Names<'a>, ColumnError> {
        let (lists, inner) = source.lists("entries", "list<struct>")?;
        let attributes = |source: &Source<'a>, prefix: &str| {
            files.then(|| Attributes::new(source, prefix)).transpose()
        };
        Ok(columns!(source, "", Names {
            fh, name, fh2, name2, new_fh, ftype;
            attributes: attributes(source, "")?,
            dir_attributes: attributes(source, "dir_")?,
            lists: lists,
            entry_name: inner.array("name")?,
            entry_fh: inner.array("fh")?,
            entry_ftype: inner.array("ftype")?,
            entry_attributes: attributes(&inner, "")?,
        }))
    }

    /// The file of a handle column in a row.
    #[inline]
    pub fn node(column: &BinaryArray, row: usize, server: u32, tree: &mut Tree) -> Option<NodeId> {
        bytes(column, row).map(|fh| tree.node(server, fh))
    }

    /// Whether a row's object is a directory.
    #[inline]
    pub fn is_directory(&self, row: usize) -> bool {
        get(self.ftype, row) == Some(2)
    }

    /// The handles that a layout names; none if the row has no such layout.
    pub fn layout(&self, row: usize) -> Option<impl Iterator<Item = &'a [u8]> + use<'_, 'a>> {
        let handles = places(self.lists, row).filter_map(|at| bytes(self.entry_fh, at));
        self.lists.is_valid(row).then_some(handles)
    }

    /// The entries of a row with a name and a handle, except the directory and its parent.
    pub fn entries(&self, row: usize) -> impl Iterator<Item = Entry<'a>> + use<'_, 'a> {
        places(self.lists, row).filter_map(|at| {
            let name = bytes(self.entry_name, at)?;
            let fh = bytes(self.entry_fh, at)?;
            let directory = get(self.entry_ftype, at) == Some(2);
            (name != b"." && name != b"..").then_some(Entry { at, name, fh, directory })
        })
    }
}

/// One set of attributes.
#[allow(missing_docs)]
pub struct Attributes<'a> {
    pub ftype: U8<'a>,
    pub mode: U32<'a>,
    pub owner: U32<'a>,
    pub group: U32<'a>,
    pub size: U64<'a>,
    pub times: [Time<'a>; 3],
}

impl<'a> Attributes<'a> {
    fn new(source: &Source<'a>, prefix: &str) -> Result<Attributes<'a>, ColumnError> {
        let time = |name: &str| source.array(&format!("{prefix}{name}"));
        Ok(columns!(source, prefix, Attributes {
            ftype, mode, owner, group, size;
            times: [time("atime")?, time("mtime")?, time("ctime")?],
        }))
    }
}
