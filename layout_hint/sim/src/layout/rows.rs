//! Columns of a build's tables, checked as they are read.

use super::trace::Trace;
use super::Error;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{
    Array, ArrayAccessor, BinaryArray, DictionaryArray, PrimitiveArray, RecordBatch, StringArray,
};

/// Bytes that an entry's name has at most.
const LONGEST: usize = 255;

/// A batch, and its position in its table.
pub struct Rows<'a> {
    /// The table.
    pub table: &'static str,
    /// Its rows before these.
    pub first: usize,
    /// The rows.
    pub batch: &'a RecordBatch,
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

    /// A required number.
    pub fn value<T: ArrowPrimitiveType>(
        &self,
        column: &PrimitiveArray<T>,
        row: usize,
        name: &str,
    ) -> Result<T::Native, Error> {
        get(column, row).ok_or_else(|| self.wrong(row, format!("no {name}")))
    }

    /// The number of a name that an entry can have.
    pub fn name(
        &self,
        trace: &mut Trace,
        column: &BinaryArray,
        row: usize,
        which: &str,
    ) -> Result<u32, Error> {
        let name = get(column, row).ok_or_else(|| self.wrong(row, format!("no {which}")))?;
        if name.is_empty() || name.len() > LONGEST || name.iter().any(|&b| b == b'/' || b == 0) {
            return Err(self.wrong(row, format!("{which}: no name of an entry")));
        }
        trace.names.intern(name).ok_or_else(|| self.wrong(row, "more than 4 GB of names"))
    }

    /// The error of a row.
    pub fn wrong(&self, row: usize, what: impl Into<String>) -> Error {
        Error::Row { table: self.table, row: self.first + row, what: what.into() }
    }
}

/// A column in the type that is expected.
pub trait Column<'a>: Sized {
    /// That of a name.
    fn of(rows: &Rows<'a>, name: &str) -> Result<Self, Error>;
}

impl<'a, T: ArrowPrimitiveType> Column<'a> for &'a PrimitiveArray<T> {
    fn of(rows: &Rows<'a>, name: &str) -> Result<Self, Error> {
        rows.column(name, &T::DATA_TYPE.to_string(), |column| column.as_any().downcast_ref())
    }
}

impl<'a> Column<'a> for &'a BinaryArray {
    fn of(rows: &Rows<'a>, name: &str) -> Result<Self, Error> {
        rows.column(name, "Binary", |column| column.as_binary_opt())
    }
}

impl<'a> Column<'a> for Words<'a> {
    fn of(rows: &Rows<'a>, name: &str) -> Result<Self, Error> {
        let expected = "Dictionary(Int32, Utf8)";
        let column: &DictionaryArray<Int32Type> =
            rows.column(name, expected, |column| column.as_any().downcast_ref())?;
        match column.values().as_string_opt() {
            Some(words) => Ok(Words { column, words }),
            None => Err(Error::Column(format!("{}: {name}: expected {expected}", rows.table))),
        }
    }
}

/// A column of words.
pub struct Words<'a> {
    column: &'a DictionaryArray<Int32Type>,
    words: &'a StringArray,
}

impl<'a> Words<'a> {
    /// A row's word.
    pub fn get(&self, row: usize) -> Option<&'a str> {
        let key = self.column.key(row)?;
        (key < self.words.len() && self.words.is_valid(key)).then(|| self.words.value(key))
    }
}

/// A row's value in a column.
#[inline]
pub fn get<A: ArrayAccessor>(column: A, row: usize) -> Option<A::Item> {
    column.is_valid(row).then(|| column.value(row))
}
