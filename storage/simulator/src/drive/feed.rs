//! Sectors on their way from the medium to the host.

use super::Run;

/// The bus, which passes sectors on in order, each once all before it are there.
#[derive(Clone, Copy, Debug)]
pub struct Feed {
    per_sector: u64,
    done: u64,
}

impl Feed {
    /// A bus with a time per sector, free from time `at` on.
    pub fn new(per_sector: u64, at: u64) -> Self {
        Self { per_sector, done: at }
    }

    /// Pass on sectors from the buffer.
    pub fn held(&mut self, sectors: u64) {
        self.done += sectors * self.per_sector;
    }

    /// Pass on sectors from the medium.
    ///
    /// A slower bus waits for the first; with a slower medium, the bus waits for the last.
    pub fn read(&mut self, run: &Run) {
        let sectors = run.sectors - run.early;
        let first = run.start + (run.end - run.start) / sectors;
        let slow_bus = self.done.max(first) + sectors * self.per_sector;
        self.done = slow_bus.max(run.end + self.per_sector);
        self.held(run.early);
    }

    /// The time at which the last was passed on.
    pub fn done(&self) -> u64 {
        self.done
    }
}
