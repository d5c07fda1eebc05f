//! Arrow arrays that several tables have.

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray, TimestampMicrosecondArray};
use arrow_schema::ArrowError;
use std::sync::Arc;

/// Times, in microseconds since the epoch.
pub fn times(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(TimestampMicrosecondArray::from_iter_values(values).with_timezone("UTC"))
}

/// Words, by their places among `all`.
pub fn words(
    places: impl Iterator<Item = Option<u32>>,
    all: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<ArrayRef, ArrowError> {
    let keys: Int32Array = places.map(|place| place.map(|place| place as i32)).collect();
    let words = StringArray::from_iter_values(all);
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::new(words))?))
}
