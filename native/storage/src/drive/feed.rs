//! Sectors on their way from the medium to the host.

use super::Run;

/// The bus, which passes sectors on in their order, each as soon as all up to it are there.
#[derive(Clone, Copy, Debug)]
pub struct Feed {
    per_sector: u64,
    done: u64,
}

impl Feed {
    /// A bus that takes so long for a sector, and is free from time `at` on.
    pub fn new(per_sector: u64, at: u64) -> Self {
        Self { per_sector, done: at }
    }

    /// Pass sectors on that are in the buffer.
    pub fn held(&mut self, sectors: u64) {
        self.done += sectors * self.per_sector;
    }

    /// Pass sectors on that come from the medium.
    ///
    /// Either the bus is slower, and waits for the first; or the medium, and the bus for the last.
    pub fn read(&mut self, run: &Run) {
        let sectors = run.sectors - run.early;
        let first = run.start + (run.end - run.start) / sectors;
        let slow_bus = self.done.max(first) + sectors * self.per_sector;
        self.done = slow_bus.max(run.end + self.per_sector);
        self.held(run.early);
    }

    /// When the last was passed on.
    pub fn done(&self) -> u64 {
        self.done
    }
}
