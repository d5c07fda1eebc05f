//! What a line is printed from, wherever it is kept.

use crate::schema::{Column, EntryColumn};

/// The values of one row or message, by column; none where it has none.
pub trait Values {
    /// A number, a time (`i64` carried as `u64`) or a boolean.
    fn number(&self, column: Column) -> Option<u64>;
    /// Bytes.
    fn bytes(&self, column: Column) -> Option<&[u8]>;
    /// How many directory entries there are.
    fn entries(&self) -> usize;
    /// A number of an entry.
    fn entry_number(&self, entry: usize, column: EntryColumn) -> Option<u64>;
    /// Bytes of an entry.
    fn entry_bytes(&self, entry: usize, column: EntryColumn) -> Option<&[u8]>;
}
