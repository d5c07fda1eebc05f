//! No prefetching.

use super::{Fetch, Prefetcher};
use std::ops::Range;

/// Only what is missing is read.
#[derive(Clone, Copy, Debug)]
pub struct Nothing;

impl Prefetcher for Nothing {
    fn fetch(&self, missing: &Range<u64>) -> Fetch {
        Fetch { sectors: missing.clone(), until: missing.end }
    }
}
