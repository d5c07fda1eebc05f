//! The rule of FreeBSD 4.

use super::{Read, Rule, MOST};

/// Counts calls that go on where the one before ended (`nfsrv_read`, FreeBSD 4.8).
///
/// Any other read sets the count back to 1, and if it was there already, to 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct Default4;

/// Where a file's next read is expected, and how many went on so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// The end of the last read.
    pub next: u64,
    /// The count.
    pub count: u32,
}

impl Expected {
    /// That of a file of which nothing is known: one that is read from its beginning on is likely to
    /// be read on.
    pub fn begin(read: &Read) -> Self {
        Self { next: read.offset, count: if read.offset == 0 { 4 } else { 1 } }
    }

    /// Whether a read goes on where the last one ended, or begins again with the file.
    pub fn continues(&self, read: &Read) -> bool {
        (read.offset == 0 && self.count > 0) || read.offset == self.next
    }

    /// Count reads that go on.
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
