//! Conditional sequential prefetch.

use super::{Fetch, Prefetcher};
use crate::cache::Lru;
use std::ops::Range;

/// Number of segments with a known run.
const DIRECTORY: usize = 64;

/// Counts the segments of a run of reads. From `trigger` segments on, it prefetches `factor` times
/// the length of the run behind the missing sectors.
#[derive(Clone, Debug)]
pub struct Runs {
    segment: u64,
    trigger: u64,
    factor: u64,
    most: u64,
    /// Length of the run that ends with a segment.
    runs: Lru<u64>,
}

impl Runs {
    /// Segments of `segment` sectors, with at most `most` prefetched sectors.
    pub fn new(segment: u64, trigger: u64, factor: u64, most: u64) -> Self {
        Self { segment, trigger, factor, most, runs: Lru::default() }
    }
}

impl Prefetcher for Runs {
    fn seen(&mut self, sectors: &Range<u64>) {
        for segment in sectors.start / self.segment..sectors.end.div_ceil(self.segment) {
            if self.runs.touch(segment).is_some() {
                continue;
            }
            let before = segment.checked_sub(1).and_then(|before| self.runs.remove(before));
            if self.runs.len() >= DIRECTORY {
                self.runs.oldest().map(|oldest| self.runs.remove(oldest));
            }
            self.runs.add(segment, 1 + before.unwrap_or(0));
        }
    }

    fn fetch(&self, missing: &Range<u64>) -> Fetch {
        let run = self.runs.get((missing.end - 1) / self.segment).copied().unwrap_or(0);
        let wanted = if run >= self.trigger { self.factor * run * self.segment } else { 0 };
        let ahead = wanted.min(self.most);
        Fetch { sectors: missing.start..missing.end + ahead, until: missing.end }
    }
}
