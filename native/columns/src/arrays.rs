//! Arrow arrays shared by several tables.

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray, TimestampMicrosecondArray};
use arrow_schema::ArrowError;
use hashbrown::HashMap;
use std::sync::Arc;

/// Times, in microseconds since the epoch; none where unknown.
pub fn times(values: impl Iterator<Item = impl Into<Option<i64>>>) -> ArrayRef {
    let times: TimestampMicrosecondArray = values.map(Into::into).collect();
    Arc::new(times.with_timezone("UTC"))
}

/// Words by number, as `word` gives them; the dictionary holds only those that occur.
pub fn occurring<'a>(
    numbers: impl Iterator<Item = Option<u32>>,
    word: impl Fn(u32) -> &'a str,
) -> ArrayRef {
    let mut places = HashMap::new();
    let mut words = Vec::new();
    let mut place = |number: u32| {
        *places.entry(number).or_insert_with(|| {
            words.push(word(number));
            words.len() as i32 - 1
        })
    };
    let keys: Int32Array = numbers.map(|number| number.map(&mut place)).collect();
    let words = StringArray::from(words);
    Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::new(words)))
}

/// Words, by their indices in `all`.
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
