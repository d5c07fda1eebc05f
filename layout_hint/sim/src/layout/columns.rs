//! The columns of a build's tables, as `data/replay/schema.py` has them.

use super::rows::{bytes, Rows, Words};
use super::trace::What;
use super::Error;
use arrow_array::types::{Int64Type, TimestampMicrosecondType, UInt32Type, UInt64Type};
use arrow_array::{BinaryArray, PrimitiveArray};

/// The columns of the manifest.
pub struct Entries<'a> {
    pub ids: &'a PrimitiveArray<Int64Type>,
    pub parents: &'a PrimitiveArray<Int64Type>,
    pub names: &'a BinaryArray,
    pub kinds: Words<'a>,
    pub sizes: &'a PrimitiveArray<UInt64Type>,
    pub targets: &'a BinaryArray,
    pub modes: &'a PrimitiveArray<UInt32Type>,
    pub owners: &'a PrimitiveArray<UInt32Type>,
    pub groups: &'a PrimitiveArray<UInt32Type>,
}

impl<'a> Entries<'a> {
    pub fn of(rows: &Rows<'a>) -> Result<Entries<'a>, Error> {
        Ok(Entries {
            ids: rows.numbers("id")?,
            parents: rows.numbers("parent")?,
            names: rows.bytes("name")?,
            kinds: rows.words("kind")?,
            sizes: rows.numbers("size")?,
            targets: rows.bytes("target")?,
            modes: rows.numbers("mode")?,
            owners: rows.numbers("owner")?,
            groups: rows.numbers("group")?,
        })
    }

    /// What a row is of.
    pub fn what(&self, rows: &Rows, row: usize) -> Result<What, Error> {
        Ok(match self.kinds.get(row).ok_or_else(|| rows.wrong(row, "no kind"))? {
            "file" => What::File,
            "directory" => What::Directory,
            "symlink" => What::Symlink(bytes(self.targets, row).map_or(7, |t| t.len() as u32)),
            "fifo" | "socket" | "block" | "character" => What::Node,
            other => return Err(rows.wrong(row, format!("no kind of object: {other:?}"))),
        })
    }
}

/// The columns of the operations.
pub struct Columns<'a> {
    pub times: &'a PrimitiveArray<TimestampMicrosecondType>,
    pub ops: Words<'a>,
    pub statuses: &'a PrimitiveArray<UInt32Type>,
    pub uids: &'a PrimitiveArray<UInt32Type>,
    pub gids: &'a PrimitiveArray<UInt32Type>,
    pub ids: &'a PrimitiveArray<Int64Type>,
    pub names: &'a BinaryArray,
    pub second_ids: &'a PrimitiveArray<Int64Type>,
    pub second_names: &'a BinaryArray,
    pub new_ids: &'a PrimitiveArray<Int64Type>,
    pub offsets: &'a PrimitiveArray<UInt64Type>,
    pub counts: &'a PrimitiveArray<UInt32Type>,
    pub cookies: &'a PrimitiveArray<UInt64Type>,
    pub targets: &'a BinaryArray,
    pub modes: &'a PrimitiveArray<UInt32Type>,
    pub owners: &'a PrimitiveArray<UInt32Type>,
    pub groups: &'a PrimitiveArray<UInt32Type>,
    pub sizes: &'a PrimitiveArray<UInt64Type>,
}

impl<'a> Columns<'a> {
    pub fn of(rows: &Rows<'a>) -> Result<Columns<'a>, Error> {
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
