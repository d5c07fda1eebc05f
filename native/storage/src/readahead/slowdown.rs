//! A rule that does not lose its head for a read that overtook another.

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

/// Take note of a read that leaves the count as it is if it is so near to the expected one.
pub fn slow_down(known: &mut Expected, read: &Read, near: u64) {
    if known.continues(read) {
        known.more(1);
    } else if read.offset.abs_diff(known.next) > near {
        known.count /= 2;
    }
    known.next = read.end();
}
