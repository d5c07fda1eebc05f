//! The first operations on a file: all that can be known when it is a few seconds old, whatever
//! happens later.

use super::life::Attributes;
use birthmark_learn::history::YOUNG;
use serde::{Deserialize, Serialize};

/// A file's life while it is young.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Early {
    /// The end of that time; the end of time if no birth is known.
    until: i64,
    /// Successful reads.
    pub reads: u32,
    /// Successful writes.
    pub writes: u32,
    /// Largest size seen.
    pub size: Option<u64>,
    /// Access time last seen.
    pub atime: Option<i64>,
    /// Modification time last seen.
    pub mtime: Option<i64>,
}

/// The state before the birth is known.
impl Default for Early {
    fn default() -> Early {
        Early { until: i64::MAX, reads: 0, writes: 0, size: None, atime: None, mtime: None }
    }
}

impl Early {
    /// Records the birth.
    pub fn born(&mut self, at: i64) {
        self.until = at.saturating_add(YOUNG);
    }

    /// Records attributes in a reply.
    #[inline]
    pub fn shown(&mut self, at: i64, attributes: &Attributes) {
        if at <= self.until {
            self.atime = attributes.atime.or(self.atime);
            self.mtime = attributes.mtime.or(self.mtime);
        }
    }

    /// Records a size.
    #[inline]
    pub fn sized(&mut self, at: i64, size: Option<u64>) {
        if at <= self.until {
            self.size = self.size.max(size);
        }
    }

    /// Counts a read.
    #[inline]
    pub fn read(&mut self, at: i64) {
        self.reads = self.reads.saturating_add((at <= self.until).into());
    }

    /// Counts a write.
    #[inline]
    pub fn wrote(&mut self, at: i64) {
        self.writes = self.writes.saturating_add((at <= self.until).into());
    }

    /// Adds an earlier life of the same file, known by its handle from `at` on. Operations by the
    /// handle while the file was no longer young could not have been attributed in time.
    pub fn continue_from(&mut self, earlier: Early, at: i64) {
        if at > earlier.until {
            *self = earlier;
            return;
        }
        self.until = earlier.until;
        self.size = self.size.max(earlier.size);
        self.atime = self.atime.or(earlier.atime);
        self.mtime = self.mtime.or(earlier.mtime);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_five_seconds_after_the_birth_are_not_early() {
        let mut early = Early::default();
        early.sized(10, Some(7));
        early.born(10);
        early.wrote(10 + YOUNG);
        early.wrote(11 + YOUNG);
        early.read(11 + YOUNG);
        early.sized(11 + YOUNG, Some(8));
        early.shown(11 + YOUNG, &Attributes { atime: Some(1), ..Default::default() });
        assert_eq!((early.reads, early.writes, early.size, early.atime), (0, 1, Some(7), None));
    }

    #[test]
    fn a_handle_that_came_too_late_tells_nothing_early() {
        for (at, writes, size) in [(YOUNG, 1, Some(9)), (YOUNG + 1, 0, Some(2))] {
            let mut nameless = Early::default();
            nameless.sized(0, Some(2));
            nameless.born(0);
            let mut known = Early::default();
            known.wrote(1);
            known.sized(1, Some(9));
            known.continue_from(nameless, at);
            assert_eq!((known.writes, known.size), (writes, size));
        }
    }
}
