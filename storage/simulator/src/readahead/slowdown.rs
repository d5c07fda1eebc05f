//! A rule that tolerates reads that overtake others.

use super::default4::Expected;
use super::{Read, Rule, NEAR};

/// Ellard and Seltzer's SlowDown (section 6.2): a read within [`NEAR`] of the expected one leaves the
/// count as it is, one further away halves it.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowDown;

impl Rule for SlowDown {
    type Known = Expected;

    fn begin(&self, read: &Read) -> Expected {
        Expected::begin(read)
    }

    fn seen(&self, known: &mut Expected, read: &Read) -> u32 {
        slow_down(known, read, NEAR);
        known.count
    }
}

/// Record a read that leaves the count if it is within `near` of the expected one.
pub fn slow_down(known: &mut Expected, read: &Read, near: u64) {
    if known.continues(read) {
        known.more(1);
    } else if read.offset.abs_diff(known.next) > near {
        known.count /= 2;
    }
    known.next = read.end();
}
