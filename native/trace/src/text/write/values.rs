//! The values of a line, from any source.

use crate::schema::{Column, EntryColumn};

/// The values of one row or message, by column; none for null.
pub trait Values {
    /// A number, a time (`i64` carried as `u64`) or a boolean.
    fn number(&self, column: Column) -> Option<u64>;
    /// Bytes.
    fn bytes(&self, column: Column) -> Option<&[u8]>;
    /// The number of directory entries.
    fn entries(&self) -> usize;
    /// A number of an entry.
    fn entry_number(&self, entry: usize, column: EntryColumn) -> Option<u64>;
    /// Bytes of an entry.
    fn entry_bytes(&self, entry: usize, column: EntryColumn) -> Option<&[u8]>;
}
