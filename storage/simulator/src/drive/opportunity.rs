//! Opportunistic reading of passing sectors, and until the arm has to leave (Hsu and Smith, section
//! 4).

use super::{Access, Mechanism};
use std::ops::Range;

/// Margin of the arm's departure, in nanoseconds: reading ahead may end on another track, with
/// another seek time.
const GUARD: u64 = 100_000;

impl Mechanism {
    /// Sectors of a track that passed under the head while it waited for one: those right before
    /// it, and those at the track's end if it came there.
    pub fn passed_over(&self, sector: u64, rotation: u64) -> [Range<u64>; 2] {
        let place = self.geometry().place(sector);
        let track = self.geometry().track(sector);
        let passed = self.passing(&place, rotation);
        let before = passed.min(sector - track.start);
        let at_end = (passed - before).min(track.end - sector);
        [sector - before..sector, track.end - at_end..track.end]
    }

    /// Delay from time `at` by which the arm can leave for a sector, and still be there as early.
    pub fn slack(&self, sector: u64, at: u64) -> u64 {
        let place = self.geometry().place(sector);
        let from = at.max(self.free());
        let ready = from + self.seek(&place, false);
        (from - at + self.wait(&place, ready)).saturating_sub(GUARD)
    }
}

/// Reading ahead that can be aborted.
#[derive(Clone, Copy, Debug)]
pub struct ReadOn {
    /// The next sector.
    pub next: u64,
    /// The end.
    pub limit: u64,
    /// Earliest start of the next one, in nanoseconds.
    pub at: u64,
}

impl ReadOn {
    /// Whether all is read.
    pub fn is_over(&self) -> bool {
        self.next >= self.limit
    }

    /// Read on up to a time; return the sectors that had passed by then.
    pub fn read(&mut self, mechanism: &mut Mechanism, until: u64) -> Range<u64> {
        let first = self.next;
        let access = Access { write: false, unordered: false };
        while !self.is_over() && self.at < until {
            let most = self.limit - self.next;
            let run = mechanism.pass(self.next, most, self.at, self.at, access);
            let place = mechanism.geometry().place(self.next);
            let passed = mechanism.passing(&place, until.saturating_sub(run.start));
            let read = passed.min(run.sectors);
            self.at = match read {
                0 => self.at + run.seek,
                _ => run.start + mechanism.time(&place, read),
            };
            self.next += read;
            mechanism.stop(self.at);
            if read < run.sectors {
                break;
            }
        }
        first..self.next
    }
}
