//! The service of writes, and the data that they leave to be written.

use super::{Access, Drive, Run, Service};

/// Buffered data to be written, and the end of its writing.
#[derive(Clone, Copy, Debug)]
pub struct Dirty {
    segment: u64,
    start: u64,
    end: u64,
    /// When all of it is on the medium.
    pub until: u64,
}

impl Drive {
    /// Serve a write from time `begin` on.
    pub(super) fn write(&mut self, sector: u64, sectors: u64, begin: u64) -> Service {
        self.ahead = None;
        if let Some(cache) = &mut self.later {
            cache.forget(sector, sector + sectors);
            if sectors <= cache.size() {
                return self.write_later(sector, sectors, begin);
            }
        }
        let fits = sectors <= self.rules.segment_sectors;
        let early = fits && self.rules.fast_writes && self.later.is_none();
        let overhead = self.overhead(true, early);
        let goes_on = self.dirty.filter(|dirty| early && self.goes_on(dirty, sector, sectors));
        let queue = match (goes_on, self.dirty) {
            (None, Some(dirty)) => dirty.until.saturating_sub(begin + overhead),
            _ => 0,
        };
        let from = begin + overhead + queue;
        let at = from.max(self.mechanism.free());
        let received = from + sectors * self.per_sector;
        let (first, written) = self.write_medium(sector, sectors, (from, at, received));
        let (segment, start) = self.hold(sector, sectors, goes_on);
        if early {
            self.dirty = Some(Dirty { segment, start, end: sector + sectors, until: written });
            return Service { queue, overhead, bus: received - from, ..Service::default() };
        }
        Service {
            queue: queue + (at - from),
            overhead,
            seek: first.seek,
            rotation: first.rotation,
            transfer: written - first.start,
            bus: received.saturating_sub(written),
        }
    }

    /// Whether a write continues one that waits for the medium, and fits in behind it.
    fn goes_on(&self, dirty: &Dirty, sector: u64, sectors: u64) -> bool {
        let fits = sector + sectors - dirty.start.min(sector) <= self.rules.segment_sectors;
        self.rules.combine_writes && dirty.end == sector && fits
    }

    /// Store written sectors in the segment that they continue, or in a new one; return that, and
    /// its first sector that waits for the medium.
    fn hold(&mut self, sector: u64, sectors: u64, goes_on: Option<Dirty>) -> (u64, u64) {
        match goes_on {
            Some(dirty) => {
                self.buffer.write_behind(dirty.segment, sectors);
                (dirty.segment, dirty.start)
            }
            None => (self.buffer.write(sector, sectors), sector),
        }
    }

    /// Write sectors; the first comes at time `from`, the last is there at time `received`, and the
    /// arm leaves at time `at`. Return the first run, and the end of the write.
    ///
    /// The first is written late enough for all others to follow without a wait.
    pub(super) fn write_medium(
        &mut self,
        sector: u64,
        sectors: u64,
        (from, at, received): (u64, u64, u64),
    ) -> (Run, u64) {
        let access = Access { write: true, unordered: self.rules.zero_latency_writes };
        let place = self.mechanism.geometry().place(sector);
        let others = self.mechanism.time(&place, sectors - 1);
        let there = (from + self.per_sector).max(received.saturating_sub(others));
        let first = self.mechanism.pass(sector, sectors, at, there, access);
        let mut run = first;
        let mut done = run.sectors;
        while done < sectors {
            let at = run.end;
            run = self.mechanism.pass(sector + done, sectors - done, at, at, access);
            done += run.sectors;
        }
        (first, run.end)
    }
}
