//! Reads that are put in order before they are judged.

use super::default4::Expected;
use super::{Read, Rule};

/// Ellard's window (thesis, section 5.2): reads of a file that came within a window of time are looked
/// at in the order of their offsets.
///
/// A read that goes on where none ended is held back for that long, while reads that fill the gap
/// may come; meanwhile the count is as it was. After that the file is taken to have been read out
/// of order, as by [`Default4`](super::Default4).
#[derive(Clone, Copy, Debug)]
pub struct Reorder {
    /// The window in nanoseconds.
    pub window: u64,
}

/// How many reads of a file go on where one ended, if those within a window are put in order.
pub fn sequential(reads: impl Iterator<Item = Read>, window: u64) -> u64 {
    let rule = Reorder { window };
    let mut known: Option<Known> = None;
    for read in reads {
        let known = known.get_or_insert_with(|| rule.begin(&read));
        rule.seen(known, &read);
    }
    known.map_or(0, |known| known.followed)
}

/// What is expected of a file, and the reads that are held back.
#[derive(Clone, Debug)]
pub struct Known {
    expected: Expected,
    /// In the order of arrival.
    held: Vec<Read>,
    /// How many went on where one ended.
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
    /// Count the reads that go on, one after the other.
    fn follow(&mut self) {
        while let Some(place) = self.held.iter().position(|own| self.expected.continues(own)) {
            self.expected.more(1);
            self.followed += 1;
            self.expected.next = self.held.remove(place).end();
        }
    }

    /// Take the first of the reads within a window for one out of order: that of the lowest offset.
    fn give_up(&mut self) {
        let lowest = self.held.iter().enumerate().min_by_key(|(_, own)| own.offset);
        if let Some(place) = lowest.map(|(place, _)| place) {
            self.expected.count = u32::from(self.expected.count > 1);
            self.expected.next = self.held.remove(place).end();
        }
    }
}
