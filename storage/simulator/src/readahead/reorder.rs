//! Reads that are put in order before they are counted.

use super::default4::Expected;
use super::{Read, Rule};

/// Ellard's window (thesis, section 5.2): reads of a file within a window of time are ordered by
/// their offsets.
///
/// A read that does not continue another is held back for that long, in case others fill the gap;
/// meanwhile the count stays. Then the read counts as out of order, as with
/// [`Default4`](super::Default4).
#[derive(Clone, Copy, Debug)]
pub struct Reorder {
    /// The window in nanoseconds.
    pub window: u64,
}

/// Number of sequential reads of a file, after reordering within a window.
pub fn sequential(reads: impl Iterator<Item = Read>, window: u64) -> u64 {
    let rule = Reorder { window };
    let mut known: Option<Known> = None;
    for read in reads {
        let known = known.get_or_insert_with(|| rule.begin(&read));
        rule.seen(known, &read);
    }
    known.map_or(0, |known| known.followed)
}

/// The expected read of a file, and the reads that are held back.
#[derive(Clone, Debug)]
pub struct Known {
    expected: Expected,
    /// In the order of arrival.
    held: Vec<Read>,
    /// Number of sequential reads.
    followed: u64,
}

impl Rule for Reorder {
    type Known = Known;

    fn begin(&self, read: &Read) -> Known {
        Known { expected: Expected::begin(read), held: Vec::new(), followed: 0 }
    }

    fn seen(&self, known: &mut Known, read: &Read) -> u32 {
        while known.held.first().is_some_and(|first| first.at + self.window < read.at) {
            known.give_up();
            known.follow();
        }
        known.held.push(*read);
        known.follow();
        known.expected.count
    }
}

impl Known {
    /// Count consecutive sequential reads.
    fn follow(&mut self) {
        while let Some(place) = self.held.iter().position(|own| self.expected.continues(own)) {
            self.expected.more(1);
            self.followed += 1;
            self.expected.next = self.held.remove(place).end();
        }
    }

    /// Treat the held read of the lowest offset as out of order.
    fn give_up(&mut self) {
        let lowest = self.held.iter().enumerate().min_by_key(|(_, own)| own.offset);
        if let Some(place) = lowest.map(|(place, _)| place) {
            self.expected.count = u32::from(self.expected.count > 1);
            self.expected.next = self.held.remove(place).end();
        }
    }
}
