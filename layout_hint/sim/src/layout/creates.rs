//! The creates of a trace, in order, as inputs of the hook.

use super::intern::Names;
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Int64Array, RecordBatch, UInt32Array, UInt8Array,
};
use arrow_schema::ArrowError;
use std::sync::Arc;

/// Attributes of an object at its creation.
#[derive(Clone, Copy, Debug)]
pub struct Create {
    /// The number of its name.
    pub name: u32,
    /// Its number.
    pub object: u32,
    /// Whether it is a directory.
    pub directory: bool,
    /// Permission bits.
    pub mode: Option<u32>,
    /// Its owner, or the caller.
    pub uid: Option<u32>,
    /// Its group, or the caller's.
    pub gid: Option<u32>,
    /// The hour of the day, UTC.
    pub hour: Option<u8>,
}

/// A row for each create.
pub fn table(creates: &[Create], names: &Names, ids: &[i64]) -> Result<RecordBatch, ArrowError> {
    let each = || creates.iter();
    let columns: [(&str, ArrayRef, bool); 8] = [
        ("place", Arc::new(Int64Array::from_iter_values(0..creates.len() as i64)), false),
        ("name", Arc::new(BinaryArray::from_iter_values(each().map(|c| names.get(c.name)))), false),
        ("directory", Arc::new(BooleanArray::from_iter(each().map(|c| Some(c.directory)))), false),
        ("mode", Arc::new(UInt32Array::from_iter(each().map(|c| c.mode))), true),
        ("uid", Arc::new(UInt32Array::from_iter(each().map(|c| c.uid))), true),
        ("gid", Arc::new(UInt32Array::from_iter(each().map(|c| c.gid))), true),
        ("hour", Arc::new(UInt8Array::from_iter(each().map(|c| c.hour))), true),
        (
            "id",
            Arc::new(Int64Array::from_iter_values(each().map(|c| ids[c.object as usize]))),
            false,
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns)
}
