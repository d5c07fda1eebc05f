//! The operations table as the writer reads it: values by column and row.

use crate::schema::{Column, EntryColumn, Kind, Op, COLUMNS, ENTRY_COLUMNS, OPS};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Int32Type, TimestampMicrosecondType, UInt16Type, UInt32Type, UInt64Type, UInt8Type,
};
use arrow_array::{
    Array, BinaryArray, BooleanArray, ListArray, PrimitiveArray, RecordBatch, StringArray,
    StructArray, UInt32Array,
};
use std::ops::Range;

/// Why a batch of operations cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum RowsError {
    #[error("operations: column {0:?} is missing")]
    Missing(String),
    #[error("operations: column {column:?} is {found}, expected {expected}")]
    Type { column: String, found: String, expected: String },
    #[error("operations: column {0:?} has nulls, where every row must have a value")]
    Null(String),
}

/// A column's values.
enum Values<'a> {
    Bool(&'a BooleanArray),
    U8(&'a PrimitiveArray<UInt8Type>),
    U16(&'a PrimitiveArray<UInt16Type>),
    U32(&'a PrimitiveArray<UInt32Type>),
    U64(&'a PrimitiveArray<UInt64Type>),
    Time(&'a PrimitiveArray<TimestampMicrosecondType>),
    Bytes(&'a BinaryArray),
    Word(&'a PrimitiveArray<Int32Type>, &'a StringArray),
}

impl<'a> Values<'a> {
    fn new(array: &'a dyn Array, kind: Kind) -> Option<Values<'a>> {
        Some(match kind {
            Kind::Bool => Values::Bool(array.as_boolean_opt()?),
            Kind::U8 => Values::U8(array.as_primitive_opt()?),
            Kind::U16 => Values::U16(array.as_primitive_opt()?),
            Kind::U32 => Values::U32(array.as_primitive_opt()?),
            Kind::U64 => Values::U64(array.as_primitive_opt()?),
            Kind::Time => Values::Time(array.as_primitive_opt()?),
            Kind::Bytes => Values::Bytes(array.as_binary_opt()?),
            Kind::Word => {
                let words = array.as_dictionary_opt::<Int32Type>()?;
                Values::Word(words.keys(), words.values().as_string_opt::<i32>()?)
            }
        })
    }

    fn array(&self) -> &dyn Array {
        match self {
            Values::Bool(array) => array,
            Values::U8(array) => array,
            Values::U16(array) => array,
            Values::U32(array) => array,
            Values::U64(array) => array,
            Values::Time(array) => array,
            Values::Bytes(array) => array,
            Values::Word(keys, _) => keys,
        }
    }

    fn number(&self, row: usize) -> Option<u64> {
        if self.array().is_null(row) {
            return None;
        }
        Some(match self {
            Values::Bool(array) => array.value(row).into(),
            Values::U8(array) => array.value(row).into(),
            Values::U16(array) => array.value(row).into(),
            Values::U32(array) => array.value(row).into(),
            Values::U64(array) => array.value(row),
            Values::Time(array) => array.value(row) as u64,
            Values::Bytes(_) | Values::Word(..) => return None,
        })
    }

    fn bytes(&self, row: usize) -> Option<&'a [u8]> {
        match self {
            Values::Bytes(array) if array.is_valid(row) => Some(array.value(row)),
            _ => None,
        }
    }

    fn word(&self, row: usize) -> Option<&'a str> {
        match self {
            Values::Word(keys, words) if keys.is_valid(row) => {
                let word = keys.value(row) as usize;
                (word < words.len() && words.is_valid(word)).then(|| words.value(word))
            }
            _ => None,
        }
    }
}

/// A batch of operations.
pub struct Rows<'a> {
    /// By [`Column`]; none where it is missing, as it may be if it may be null.
    columns: Vec<Option<Values<'a>>>,
    entries: Vec<Values<'a>>,
    entry_lists: &'a ListArray,
    gids: &'a UInt32Array,
    gid_lists: &'a ListArray,
    count: usize,
}

impl<'a> Rows<'a> {
    /// Finds the columns.
    ///
    /// # Errors
    ///
    /// If one is of another type, or null or missing where it must not be.
    pub fn new(batch: &'a RecordBatch) -> Result<Rows<'a>, RowsError> {
        let mut columns = Vec::with_capacity(COLUMNS.len());
        for &(_, name, kind, required) in COLUMNS {
            let array = batch.column_by_name(name).map(AsRef::as_ref);
            if array.is_none() && !required {
                columns.push(None);
                continue;
            }
            let array = found(name, array)?;
            let wrong = || wrong(name, array, &kind.data_type().to_string());
            let values = Values::new(array, kind).ok_or_else(wrong)?;
            if required && array.null_count() > 0 {
                return Err(RowsError::Null(name.to_owned()));
            }
            columns.push(Some(values));
        }
        let (gid_lists, gids) = list(batch, "gids")?;
        let wrong_gids = || wrong("gids", gids, "UInt32");
        let gids = gids.as_primitive_opt::<UInt32Type>().ok_or_else(wrong_gids)?;
        let (entry_lists, items) = list(batch, "entries")?;
        let wrong_entries = || wrong("entries", items, "Struct");
        let entries = entry_values(items.as_struct_opt().ok_or_else(wrong_entries)?)?;
        let count = batch.num_rows();
        Ok(Rows { columns, entries, entry_lists, gids, gid_lists, count })
    }

    /// The rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.count).map(|row| Row { rows: self, row })
    }
}

fn found<'a>(name: &str, array: Option<&'a dyn Array>) -> Result<&'a dyn Array, RowsError> {
    array.ok_or_else(|| RowsError::Missing(name.to_owned()))
}

fn wrong(name: &str, array: &dyn Array, expected: &str) -> RowsError {
    let (column, found) = (name.to_owned(), array.data_type().to_string());
    RowsError::Type { column, found, expected: expected.to_owned() }
}

fn list<'a>(
    batch: &'a RecordBatch,
    name: &str,
) -> Result<(&'a ListArray, &'a dyn Array), RowsError> {
    let array = found(name, batch.column_by_name(name).map(AsRef::as_ref))?;
    let lists = array.as_list_opt::<i32>().ok_or_else(|| wrong(name, array, "List"))?;
    Ok((lists, lists.values().as_ref()))
}

fn entry_values(items: &StructArray) -> Result<Vec<Values<'_>>, RowsError> {
    let values = ENTRY_COLUMNS.iter().map(|&(_, name, kind, _)| {
        let path = format!("entries.{name}");
        let array = found(&path, items.column_by_name(name).map(AsRef::as_ref))?;
        let expected = kind.data_type().to_string();
        Values::new(array, kind).ok_or_else(|| wrong(&path, array, &expected))
    });
    values.collect()
}

/// One operation.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    rows: &'a Rows<'a>,
    row: usize,
}

impl<'a> Row<'a> {
    /// A number, a time or a boolean, if it is not null.
    pub fn number(&self, column: Column) -> Option<u64> {
        self.rows.columns[column as usize].as_ref()?.number(self.row)
    }

    /// Bytes, if they are not null.
    pub fn bytes(&self, column: Column) -> Option<&'a [u8]> {
        self.rows.columns[column as usize].as_ref()?.bytes(self.row)
    }

    /// A word; empty if it is null.
    pub fn word(&self, column: Column) -> &'a str {
        self.rows.columns[column as usize]
            .as_ref()
            .and_then(|values| values.word(self.row))
            .unwrap_or_default()
    }

    /// The procedure; none for a word that is not NFS's.
    pub fn op(&self) -> Option<Op> {
        let word = self.word(Column::Op);
        OPS.iter().position(|op| *op == word).map(|at| Op::ALL[at])
    }

    /// The caller's further groups.
    pub fn gids(&self) -> Vec<u32> {
        let at = places(self.rows.gid_lists, self.row).unwrap_or_default();
        at.filter_map(|at| self.rows.gids.values().get(at)).copied().collect()
    }

    /// The entries of a listing, if the row is one.
    pub fn entries(&self) -> Option<impl Iterator<Item = Entry<'a>>> {
        let rows = self.rows;
        let at = places(rows.entry_lists, self.row)?;
        Some(at.map(|at| Entry { values: &rows.entries, at }))
    }
}

fn places(lists: &ListArray, row: usize) -> Option<Range<usize>> {
    let offsets = lists.value_offsets();
    lists.is_valid(row).then(|| offsets[row] as usize..offsets[row + 1] as usize)
}

/// One entry of a listing.
pub struct Entry<'a> {
    values: &'a [Values<'a>],
    at: usize,
}

impl<'a> Entry<'a> {
    /// A number, if it is not null.
    pub fn number(&self, column: EntryColumn) -> Option<u64> {
        self.values[column as usize].number(self.at)
    }

    /// Bytes, if they are not null.
    pub fn bytes(&self, column: EntryColumn) -> Option<&'a [u8]> {
        self.values[column as usize].bytes(self.at)
    }
}
