//! Several places of a file at which it is read on.

use super::default4::Expected;
use super::slowdown::slow_down;
use super::{Read, Rule, NEAR};

/// Ellard and Seltzer's cursors (section 7): up to so many places of a file, each of which is read on
/// by the rule of [`SlowDown`](super::SlowDown).
///
/// The paper leaves open how many there are, and which is meant if several are near: here the
/// nearest, and of several as near the one used last.
#[derive(Clone, Copy, Debug)]
pub struct Cursors {
    /// How many a file has at most, at least one.
    pub most: usize,
}

/// A place at which a file is read on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    expected: Expected,
    used: u64,
}

/// The cursors of a file.
#[derive(Clone, Debug, Default)]
pub struct Known {
    cursors: Vec<Cursor>,
    reads: u64,
}

impl Rule for Cursors {
    type Known = Known;

    fn begin(&self, _: &Read) -> Known {
        Known::default()
    }

    fn seen(&self, known: &mut Known, read: &Read) -> u32 {
        known.reads += 1;
        let used = known.reads;
        if let Some(cursor) = known.near(read) {
            slow_down(&mut cursor.expected, read, NEAR);
            cursor.used = used;
            return cursor.expected.count;
        }
        let cursor = Cursor { expected: Expected { next: read.end(), count: 1 }, used };
        if known.cursors.len() < self.most {
            known.cursors.push(cursor);
        } else if let Some(oldest) = known.cursors.iter_mut().min_by_key(|own| own.used) {
            *oldest = cursor;
        }
        1
    }
}

impl Known {
    /// The cursor that a read is near to.
    fn near(&mut self, read: &Read) -> Option<&mut Cursor> {
        let distance = |own: &Cursor| read.offset.abs_diff(own.expected.next);
        let nearest =
            self.cursors.iter_mut().min_by_key(|own| (distance(own), std::cmp::Reverse(own.used)));
        nearest.filter(|own| distance(own) <= NEAR)
    }
}
