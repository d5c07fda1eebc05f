//! The drive's memory for writes, where it has one that is in use.

use std::collections::VecDeque;

/// Writes that the host believes done, in the order in which they reach the medium.
#[derive(Clone, Debug)]
pub struct WriteCache {
    room: u64,
    waiting: VecDeque<(f64, u64)>,
}

impl WriteCache {
    /// A cache for so many sectors.
    pub fn new(room: u64) -> Self {
        Self { room, waiting: VecDeque::new() }
    }

    /// Take sectors that will be on the medium at time `written`; return when there is room, from
    /// time `now`.
    pub fn take(&mut self, sectors: u64, written: f64, now: f64) -> f64 {
        let mut now = now;
        while self.waiting.front().is_some_and(|first| first.0 <= now) {
            self.leave();
        }
        while self.room < sectors && !self.waiting.is_empty() {
            now = now.max(self.leave());
        }
        if self.room < sectors {
            return written; // larger than the whole memory
        }
        self.room -= sectors;
        self.waiting.push_back((written, sectors));
        now
    }

    fn leave(&mut self) -> f64 {
        self.waiting.pop_front().map_or(0.0, |(written, sectors)| {
            self.room += sectors;
            written
        })
    }
}
