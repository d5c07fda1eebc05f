//! Arrow arrays that several tables have.

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray, TimestampMicrosecondArray};
use arrow_schema::ArrowError;
use std::sync::Arc;

/// Times, in microseconds since the epoch; none where they are not known.
pub fn times(values: impl Iterator<Item = impl Into<Option<i64>>>) -> ArrayRef {
    let times: TimestampMicrosecondArray = values.map(Into::into).collect();
    Arc::new(times.with_timezone("UTC"))
}

/// Words, by their places among `all`.
///
/// # Errors
///
/// If there is no word at a place.
pub fn words(
    places: impl Iterator<Item = Option<u32>>,
    all: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<ArrayRef, ArrowError> {
    let keys: Int32Array = places.map(|place| place.map(|place| place as i32)).collect();
    let words = StringArray::from_iter_values(all);
    Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, Arc::new(words))?))
}
