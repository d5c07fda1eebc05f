//! Dirty blocks by file.

use foldhash::fast::FixedState;
use std::collections::{HashMap, VecDeque};

/// Blocks of files that are not on disk, and since when.
#[derive(Clone, Debug)]
pub struct Dirty {
    /// The time of a file's first dirty block, and its dirty blocks.
    files: HashMap<u32, (u64, Vec<u64>), FixedState>,
    /// Times of first dirty blocks; outdated entries are skipped.
    since: VecDeque<(u64, u32)>,
    blocks: usize,
}

impl Default for Dirty {
    fn default() -> Self {
        let files = HashMap::with_hasher(FixedState::default());
        Self { files, since: VecDeque::new(), blocks: 0 }
    }
}

impl Dirty {
    /// Add a clean block of a file that was written at time `now`.
    pub fn add(&mut self, file: u32, block: u64, now: u64) {
        let (_, blocks) = self.files.entry(file).or_insert_with(|| {
            self.since.push_back((now, file));
            (now, Vec::new())
        });
        blocks.push(block);
        self.blocks += 1;
    }

    /// Take the blocks of a file, as contiguous runs: first block and length.
    pub fn take(&mut self, file: u32) -> Vec<(u64, u64)> {
        let Some((_, mut blocks)) = self.files.remove(&file) else {
            return Vec::new();
        };
        self.blocks -= blocks.len();
        blocks.sort_unstable();
        blocks.dedup();
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for block in blocks {
            match runs.last_mut() {
                Some(run) if run.0 + run.1 == block => run.1 += 1,
                _ => runs.push((block, 1)),
            }
        }
        runs
    }

    /// Drop the blocks of a file from one on.
    pub fn forget(&mut self, file: u32, from: u64) {
        let Some((_, blocks)) = self.files.get_mut(&file) else {
            return;
        };
        self.blocks -= blocks.len();
        blocks.retain(|block| *block < from);
        self.blocks += blocks.len();
        if blocks.is_empty() {
            self.files.remove(&file);
        }
    }

    /// The file that has been dirty longest, if since before a time.
    pub fn oldest(&mut self, by: u64) -> Option<u32> {
        while let Some(&(since, file)) = self.since.front() {
            if since > by {
                return None;
            }
            self.since.pop_front();
            if self.files.get(&file).is_some_and(|own| own.0 == since) {
                return Some(file);
            }
        }
        None
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.blocks
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.blocks == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_taken_in_runs() {
        let mut dirty = Dirty::default();
        for block in [7, 3, 4, 9, 5] {
            dirty.add(1, block, 10);
        }
        dirty.add(2, 0, 11);
        assert_eq!(dirty.len(), 6);
        assert_eq!(dirty.take(1), [(3, 3), (7, 1), (9, 1)]);
        assert_eq!((dirty.take(1), dirty.len()), (vec![], 1));
    }

    #[test]
    fn returns_the_oldest_once_it_is_old() {
        let mut dirty = Dirty::default();
        for (file, now) in [(1, 10), (2, 20), (3, 30)] {
            dirty.add(file, 0, now);
        }
        dirty.take(1);
        assert_eq!(dirty.oldest(15), None);
        assert_eq!(dirty.oldest(25), Some(2));
        dirty.take(2);
        assert_eq!((dirty.oldest(25), dirty.is_empty()), (None, false));
        assert_eq!(dirty.oldest(30), Some(3));
    }
}
