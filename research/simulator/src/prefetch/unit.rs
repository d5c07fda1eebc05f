//! A large fetch unit.

use super::{Fetch, Prefetcher};
use std::ops::Range;

/// All of the aligned units that the missing sectors lie in are read before the read is answered.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Sectors of a unit, at least one.
    pub sectors: u64,
}

impl Prefetcher for Unit {
    fn fetch(&self, missing: &Range<u64>) -> Fetch {
        let start = missing.start - missing.start % self.sectors;
        let end = missing.end.next_multiple_of(self.sectors);
        Fetch { sectors: start..end, until: end }
    }
}
