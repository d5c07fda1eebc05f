//! Cursors that all files share.

use super::default4::Expected;
use super::slowdown::slow_down;
use super::{Heuristic, Read, NEAR};
use std::collections::BTreeMap;

/// A pool of cursors, as Ellard and Seltzer propose (section 8): a file that is read at many
/// positions has many, and there is no table of files. The least recently used is replaced.
#[derive(Clone, Debug)]
pub struct Pool {
    most: usize,
    /// By file and the end of the last read.
    cursors: BTreeMap<(u64, u64), Cursor>,
    /// Their keys, by last use.
    used: BTreeMap<u64, (u64, u64)>,
    reads: u64,
    ejected: u64,
}

#[derive(Clone, Copy, Debug)]
struct Cursor {
    count: u32,
    used: u64,
}

impl Pool {
    /// A pool of so many cursors, at least one.
    pub fn new(most: usize) -> Self {
        let (cursors, used) = (BTreeMap::new(), BTreeMap::new());
        Self { most: most.max(1), cursors, used, reads: 0, ejected: 0 }
    }

    /// The position of the cursor nearest to a read, if any is near.
    fn near(&self, file: u64, offset: u64) -> Option<u64> {
        let before = self.cursors.range((file, 0)..=(file, offset)).next_back();
        let after = self.cursors.range((file, offset)..=(file, u64::MAX)).next();
        let places = [before, after].into_iter().flatten().map(|(key, _)| key.1);
        places.min_by_key(|at| at.abs_diff(offset)).filter(|at| at.abs_diff(offset) <= NEAR)
    }

    fn take(&mut self, key: (u64, u64)) -> Option<Cursor> {
        let cursor = self.cursors.remove(&key)?;
        self.used.remove(&cursor.used);
        Some(cursor)
    }

    /// Move a cursor to the end of a read; one that was there before is the same stream, and is
    /// dropped.
    fn put(&mut self, key: (u64, u64), count: u32) {
        self.take(key);
        self.reads += 1;
        self.cursors.insert(key, Cursor { count, used: self.reads });
        self.used.insert(self.reads, key);
        if self.cursors.len() > self.most {
            if let Some((_, oldest)) = self.used.pop_first() {
                self.cursors.remove(&oldest);
                self.ejected += 1;
            }
        }
    }
}

impl Heuristic for Pool {
    fn seen(&mut self, file: u64, read: &Read) -> u32 {
        let mut expected = Expected { next: read.end(), count: 1 };
        if let Some(next) = self.near(file, read.offset) {
            let count = self.take((file, next)).map_or(0, |own| own.count);
            expected = Expected { next, count };
            slow_down(&mut expected, read, NEAR);
        }
        self.put((file, expected.next), expected.count);
        expected.count
    }

    fn ejected(&self) -> u64 {
        self.ejected
    }
}
