//! The rule of FreeBSD 4.

use super::{Read, Rule, MOST};

/// Counts calls that continue where the one before ended (`nfsrv_read`, FreeBSD 4.8).
///
/// Any other read sets the count back to 1, and from there to 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Default4;

/// The expected offset of a file's next read, and the sequential count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The end of the last read.
    pub next: u64,
    /// The count.
    pub count: u32,
}

impl Expected {
    /// The state of an unknown file: one that is read from its beginning is likely to be
    /// sequential.
    pub fn begin(read: &Read) -> Self {
        Self { next: read.offset, count: if read.offset == 0 { 4 } else { 1 } }
    }

    /// Whether a read continues the last one, or starts over with the file.
    pub fn continues(&self, read: &Read) -> bool {
        (read.offset == 0 && self.count > 0) || read.offset == self.next
    }

    /// Count sequential reads.
    pub fn more(&mut self, reads: u32) {
        self.count = (self.count + reads).min(MOST);
    }
}

impl Rule for Default4 {
    type Known = Expected;

    fn begin(&self, read: &Read) -> Expected {
        Expected::begin(read)
    }

    fn seen(&self, known: &mut Expected, read: &Read) -> u32 {
        if known.continues(read) {
            known.more(1);
        } else {
            known.count = u32::from(known.count > 1);
        }
        known.next = read.end();
        known.count
    }
}
