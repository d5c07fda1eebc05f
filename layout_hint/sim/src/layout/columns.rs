//! The columns of a build's tables, as `layout_hint/rewrite/schema.py` has them.

use super::rows::{get, Column, Rows, Words};
use super::trace::What;
use super::Error;
use arrow_array::types::{Int64Type, TimestampMicrosecondType, UInt32Type, UInt64Type};
use arrow_array::{BinaryArray, PrimitiveArray, RecordBatch};

type Numbers<'a, T> = &'a PrimitiveArray<T>;

/// Declares a table's columns, each by its name there.
macro_rules! columns {
    ($(#[$doc:meta])* $table:ident = $name:literal { $($column:ident: $type:ty,)* }) => {
        $(#[$doc])*
        pub struct $table<'a> {
            pub rows: Rows<'a>,
            $(pub $column: $type,)*
        }

        impl<'a> $table<'a> {
            /// Those of a batch, with `first` rows before it.
            pub fn of(batch: &'a RecordBatch, first: usize) -> Result<$table<'a>, Error> {
                let rows = Rows { table: $name, first, batch };
                Ok($table { $($column: Column::of(&rows, stringify!($column))?,)* rows })
            }
        }
    };
}

columns! {
    /// The columns of the manifest.
    Entries = "manifest" {
        id: Numbers<'a, Int64Type>,
        parent: Numbers<'a, Int64Type>,
        name: &'a BinaryArray,
        kind: Words<'a>,
        size: Numbers<'a, UInt64Type>,
        target: &'a BinaryArray,
        mode: Numbers<'a, UInt32Type>,
        owner: Numbers<'a, UInt32Type>,
        group: Numbers<'a, UInt32Type>,
    }
}

columns! {
    /// The columns of the operations.
    Columns = "operations" {
        time: Numbers<'a, TimestampMicrosecondType>,
        op: Words<'a>,
        status: Numbers<'a, UInt32Type>,
        uid: Numbers<'a, UInt32Type>,
        gid: Numbers<'a, UInt32Type>,
        id: Numbers<'a, Int64Type>,
        name: &'a BinaryArray,
        id2: Numbers<'a, Int64Type>,
        name2: &'a BinaryArray,
        new_id: Numbers<'a, Int64Type>,
        offset: Numbers<'a, UInt64Type>,
        count: Numbers<'a, UInt32Type>,
        cookie: Numbers<'a, UInt64Type>,
        target: &'a BinaryArray,
        mode: Numbers<'a, UInt32Type>,
        owner: Numbers<'a, UInt32Type>,
        group: Numbers<'a, UInt32Type>,
        size: Numbers<'a, UInt64Type>,
    }
}

impl Entries<'_> {
    /// The kind of object of a row.
    pub fn what(&self, row: usize) -> Result<What, Error> {
        let rows = &self.rows;
        Ok(match self.kind.get(row).ok_or_else(|| rows.wrong(row, "no kind"))? {
            "file" => What::File,
            "directory" => What::Directory,
            "symlink" => What::Symlink(get(self.target, row).map_or(7, |t| t.len() as u32)),
            "fifo" | "socket" | "block" | "character" => What::Node,
            other => return Err(rows.wrong(row, format!("no kind of object: {other:?}"))),
        })
    }
}
