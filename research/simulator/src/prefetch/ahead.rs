//! Fixed reading ahead.

use super::{Fetch, Prefetcher};
use std::ops::Range;

/// Reads a number of sectors behind the missing ones; the read does not wait for them.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// Number of sectors.
    pub sectors: u64,
}

impl Prefetcher for Ahead {
    fn fetch(&self, missing: &Range<u64>) -> Fetch {
        Fetch { sectors: missing.start..missing.end + self.sectors, until: missing.end }
    }
}
