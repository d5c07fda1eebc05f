//! Columns of Arrow tables, found by name and checked.

pub mod arrays;

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, ByteArrayType, Int32Type};
use arrow_array::{
    Array, BooleanArray, GenericByteArray, ListArray, PrimitiveArray, RecordBatch, StructArray,
};
use arrow_schema::DataType;
use std::ops::Range;

/// Why a table cannot be read. A column is named with its table: `operations: column "time"`.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ColumnError {
    #[error("{0} is missing")]
    Missing(String),
    #[error("{column} is {found}, expected {expected}")]
    Type { column: String, found: String, expected: String },
    #[error("{0} has nulls, where every row must have a value")]
    Null(String),
}

/// An array that a column can be read as.
pub trait Typed: Array + Sized + 'static {
    /// Its type, as errors name it.
    fn expected() -> String;
}

impl<T: ArrowPrimitiveType> Typed for PrimitiveArray<T> {
    fn expected() -> String {
        match T::DATA_TYPE {
            DataType::Timestamp(..) => "timestamp[us, tz=UTC]".to_owned(),
            other => other.to_string(),
        }
    }
}

impl<T: ByteArrayType> Typed for GenericByteArray<T> {
    fn expected() -> String {
        T::DATA_TYPE.to_string()
    }
}

impl Typed for BooleanArray {
    fn expected() -> String {
        DataType::Boolean.to_string()
    }
}

/// The value of a column in a row, if it is not null.
#[inline]
pub fn get<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    column.is_valid(row).then(|| column.value(row))
}

/// The bytes of a column in a row, or its text, if they are not null.
#[inline]
pub fn bytes<T: ByteArrayType>(column: &GenericByteArray<T>, row: usize) -> Option<&T::Native> {
    column.is_valid(row).then(|| column.value(row))
}

/// The indices of a row's items among those of all lists.
#[inline]
pub fn places(lists: &ListArray, row: usize) -> Range<usize> {
    if lists.is_null(row) {
        return 0..0;
    }
    let offsets = lists.value_offsets();
    offsets[row] as usize..offsets[row + 1] as usize
}

/// Makes a structure of columns: first the fields named like their columns, after a prefix, then
/// the fields with other initializers.
#[macro_export]
macro_rules! columns {
    ($source:expr, $prefix:expr, $type:ident {
        $($column:ident),+; $($field:ident: $value:expr),* $(,)?
    }) => {
        $type {
            $($column: $source.array(&format!("{}{}", $prefix, stringify!($column)))?,)+
            $($field: $value,)*
        }
    };
}

/// The place of columns.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// In a batch of operations.
    Batch(&'a RecordBatch),
    /// In the entries of its listings.
    Entries(&'a StructArray),
    /// In another table.
    Table(&'a RecordBatch),
}

impl<'a> Source<'a> {
    /// A column of any type.
    pub fn column(&self, name: &str) -> Result<&'a dyn Array, ColumnError> {
        let found = match self {
            Source::Batch(batch) | Source::Table(batch) => batch.column_by_name(name),
            Source::Entries(entries) => entries.column_by_name(name),
        };
        found.map(AsRef::as_ref).ok_or_else(|| ColumnError::Missing(self.path(name)))
    }

    /// A column of one type.
    pub fn array<T: Typed>(&self, name: &str) -> Result<&'a T, ColumnError> {
        let array = self.column(name)?;
        array.as_any().downcast_ref().ok_or_else(|| self.wrong(name, array, &T::expected()))
    }

    /// A column of one type, if it is needed.
    pub fn needed<T: Typed>(&self, needed: bool, name: &str) -> Result<Option<&'a T>, ColumnError> {
        needed.then(|| self.array(name)).transpose()
    }

    /// A column of one type without nulls.
    pub fn required<T: Typed>(&self, name: &str) -> Result<&'a T, ColumnError> {
        let array: &T = self.array(name)?;
        self.known(name, array)?;
        Ok(array)
    }

    /// A column of lists of structures, and the source of their columns.
    pub fn lists(
        &self,
        name: &str,
        expected: &str,
    ) -> Result<(&'a ListArray, Source<'a>), ColumnError> {
        let array = self.column(name)?;
        let wrong = || self.wrong(name, array, expected);
        let lists = array.as_list_opt::<i32>().ok_or_else(wrong)?;
        Ok((lists, Source::Entries(lists.values().as_struct_opt().ok_or_else(wrong)?)))
    }

    /// The rows of a dictionary column, each word of the dictionary looked up once.
    pub fn words<T: Clone>(
        &self,
        name: &str,
        meaning: impl FnMut(&str) -> T,
    ) -> Result<Vec<T>, ColumnError> {
        let array = self.column(name)?;
        let wrong = || self.wrong(name, array, "Dictionary(Int32, Utf8)");
        let words = array.as_dictionary_opt::<Int32Type>().ok_or_else(wrong)?;
        let values = words.values().as_string_opt::<i32>().ok_or_else(wrong)?;
        self.known(name, words)?;
        self.known(name, values)?;
        let meanings: Vec<T> = values.iter().flatten().map(meaning).collect();
        let keys = words.keys().values().iter();
        keys.map(|&key| meanings.get(key as usize).cloned().ok_or_else(wrong)).collect()
    }

    /// The error for a column of another type.
    pub fn wrong(&self, name: &str, array: &dyn Array, expected: &str) -> ColumnError {
        ColumnError::Type {
            column: self.path(name),
            found: array.data_type().to_string(),
            expected: expected.to_owned(),
        }
    }

    /// Checks that a column has no nulls.
    pub fn known(&self, name: &str, array: &dyn Array) -> Result<(), ColumnError> {
        match array.null_count() {
            0 => Ok(()),
            _ => Err(ColumnError::Null(self.path(name))),
        }
    }

    /// A column's name, after that of its table.
    pub fn path(&self, name: &str) -> String {
        match self {
            Source::Batch(_) => format!("operations: column {name:?}"),
            Source::Entries(_) => format!("operations: column {:?}", format!("entries.{name}")),
            Source::Table(_) => format!("column {name:?}"),
        }
    }
}
