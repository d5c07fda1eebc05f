//! Columns of Arrow found by name, and checked: those of the operations table and of its listings.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int32Type};
use arrow_array::{Array, BinaryArray, BooleanArray, PrimitiveArray, RecordBatch, StructArray};

/// Why a batch of operations cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum ColumnError {
    #[error("operations: column {0:?} is missing")]
    Missing(String),
    #[error("operations: column {column:?} is {found}, expected {expected}")]
    Type { column: String, found: String, expected: String },
    #[error("operations: column {0:?} has nulls, where every row must have a value")]
    Null(String),
}

/// The value of a column in a row, if it is not null.
#[inline]
pub fn get<T: ArrowPrimitiveType>(column: &PrimitiveArray<T>, row: usize) -> Option<T::Native> {
    column.is_valid(row).then(|| column.value(row))
}

/// The bytes of a column in a row, if they are not null.
#[inline]
pub fn bytes(column: &BinaryArray, row: usize) -> Option<&[u8]> {
    column.is_valid(row).then(|| column.value(row))
}

/// Where columns are looked for.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// In a batch of operations.
    Batch(&'a RecordBatch),
    /// In the entries of its listings.
    Entries(&'a StructArray),
}

impl<'a> Source<'a> {
    /// A column of any type.
    pub fn column(&self, name: &str) -> Result<&'a dyn Array, ColumnError> {
        let found = match self {
            Source::Batch(batch) => batch.column_by_name(name),
            Source::Entries(entries) => entries.column_by_name(name),
        };
        found.map(AsRef::as_ref).ok_or_else(|| ColumnError::Missing(self.path(name)))
    }

    /// Numbers or times.
    pub fn primitive<T: ArrowPrimitiveType>(
        &self,
        name: &str,
    ) -> Result<&'a PrimitiveArray<T>, ColumnError> {
        let array = self.column(name)?;
        let expected = match T::DATA_TYPE {
            arrow_schema::DataType::Timestamp(..) => "timestamp[us, tz=UTC]".to_owned(),
            other => other.to_string(),
        };
        array.as_primitive_opt().ok_or_else(|| self.wrong(name, array, &expected))
    }

    /// Numbers or times of which none is null.
    pub fn required<T: ArrowPrimitiveType>(
        &self,
        name: &str,
    ) -> Result<&'a PrimitiveArray<T>, ColumnError> {
        let array = self.primitive(name)?;
        match array.null_count() {
            0 => Ok(array),
            _ => Err(ColumnError::Null(self.path(name))),
        }
    }

    /// Truth values.
    pub fn flags(&self, name: &str) -> Result<&'a BooleanArray, ColumnError> {
        let array = self.column(name)?;
        array.as_boolean_opt().ok_or_else(|| self.wrong(name, array, "Boolean"))
    }

    /// Byte strings.
    pub fn bytes(&self, name: &str) -> Result<&'a BinaryArray, ColumnError> {
        let array = self.column(name)?;
        array.as_binary_opt().ok_or_else(|| self.wrong(name, array, "Binary"))
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
        if words.null_count() > 0 || values.null_count() > 0 {
            return Err(ColumnError::Null(self.path(name)));
        }
        let meanings: Vec<T> = values.iter().flatten().map(meaning).collect();
        let keys = words.keys().values().iter();
        keys.map(|&key| meanings.get(key as usize).cloned().ok_or_else(wrong)).collect()
    }

    /// Why a column of another type cannot be read.
    pub fn wrong(&self, name: &str, array: &dyn Array, expected: &str) -> ColumnError {
        ColumnError::Type {
            column: self.path(name),
            found: array.data_type().to_string(),
            expected: expected.to_owned(),
        }
    }

    fn path(&self, name: &str) -> String {
        match self {
            Source::Batch(_) => name.to_owned(),
            Source::Entries(_) => format!("entries.{name}"),
        }
    }
}
