//! The service of writes by a drive with a write cache, and writing back when idle.

use super::{Drive, Service};

impl Drive {
    /// Accept a write into the cache, from time `begin` on, or as soon as there is room.
    pub(super) fn write_later(&mut self, sector: u64, sectors: u64, begin: u64) -> Service {
        let overhead = self.overhead(true, true);
        let from = begin + overhead;
        let mut room = from;
        while self.later.as_ref().is_some_and(|cache| !cache.has_room(sectors)) {
            room = self.write_run(room).unwrap_or(room);
        }
        self.buffer.forget(sector, sector + sectors);
        if let Some(cache) = &mut self.later {
            cache.take(sector, sectors);
        }
        let bus = sectors * self.per_sector;
        Service { queue: room - from, overhead, bus, ..Service::default() }
    }

    /// Whether all sectors of a read wait to be written.
    pub(super) fn waits(&self, sector: u64, sectors: u64) -> bool {
        self.later.as_ref().is_some_and(|cache| cache.holds(sector, sectors))
    }

    /// Read sectors that wait to be written.
    pub(super) fn read_waiting(&mut self, sectors: u64) -> Service {
        self.hits += 1;
        let overhead = self.overhead(false, true);
        Service { overhead, bus: sectors * self.per_sector, ..Service::default() }
    }

    /// Write waiting runs to the medium, if one begins before time `now`.
    pub(super) fn write_on(&mut self, now: u64) {
        while self.ahead.is_none() {
            let free = self.mechanism.free();
            let at = self.later.as_ref().and_then(|cache| cache.begins(free, self.ready));
            match at.filter(|at| *at < now) {
                Some(at) => self.write_run(at),
                None => return,
            };
        }
    }

    /// Write a run, from time `at` on; return the time at which it is on the medium.
    fn write_run(&mut self, at: u64) -> Option<u64> {
        let at = at.max(self.mechanism.free());
        let (sector, end) = self.later.as_mut()?.next(&self.mechanism, at)?;
        let (_, written) = self.write_medium(sector, end - sector, (0, at, 0));
        Some(written)
    }
}
