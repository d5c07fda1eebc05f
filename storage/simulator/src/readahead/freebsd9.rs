//! The rule of FreeBSD since version 9.

use super::default4::Expected;
use super::{Read, Rule};

/// A variant of SlowDown: a read near the expected one leaves the count, one further away halves it
/// (`nfsrv_sequential_heuristic`, 2011). It counts pieces of 16 KB, and nearness grows with the
/// read.
#[derive(Clone, Copy, Debug)]
pub struct FreeBsd9 {
    /// The file system's block in bytes, `f_iosize`.
    pub block: u64,
}

/// Bytes of a counted piece.
const PIECE: u64 = 16 * 1024;

impl Rule for FreeBsd9 {
    type Known = Expected;

    fn begin(&self, read: &Read) -> Expected {
        Expected::begin(read)
    }

    fn seen(&self, known: &mut Expected, read: &Read) -> u32 {
        if known.continues(read) {
            known.more(read.bytes.div_ceil(PIECE).min(super::MOST.into()) as u32);
        } else if read.offset.abs_diff(known.next) > 16 * self.block.max(read.bytes) {
            known.count = if known.count > 1 { known.count / 2 } else { 0 };
        }
        known.next = read.end();
        known.count
    }
}
