//! Several sequential positions in a file.

use super::default4::Expected;
use super::slowdown::slow_down;
use super::{Read, Rule, NEAR};

/// Ellard and Seltzer's cursors (section 7): several sequential positions in a file, each with the
/// rule of [`SlowDown`](super::SlowDown).
///
/// The paper leaves open their number and the choice among several near ones: here the nearest, and
/// the most recently used on ties.
#[derive(Clone, Copy, Debug)]
pub struct Cursors {
    /// Most cursors of a file, at least one.
    pub most: usize,
}

/// A sequential position in a file.
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
    /// The cursor near a read.
    fn near(&mut self, read: &Read) -> Option<&mut Cursor> {
        let distance = |own: &Cursor| read.offset.abs_diff(own.expected.next);
        let nearest =
            self.cursors.iter_mut().min_by_key(|own| (distance(own), std::cmp::Reverse(own.used)));
        nearest.filter(|own| distance(own) <= NEAR)
    }
}
