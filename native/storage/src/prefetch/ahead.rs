//! Reading ahead.

use super::{Fetch, Prefetcher};
use std::ops::Range;

/// So many sectors behind the missing ones are read, too; the read does not wait for them.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// How many.
    pub sectors: u64,
}

impl Prefetcher for Ahead {
    fn fetch(&self, missing: &Range<u64>) -> Fetch {
        Fetch { sectors: missing.start..missing.end + self.sectors, until: missing.end }
    }
}
