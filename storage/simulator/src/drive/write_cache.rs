//! Writes that are done before they are on the medium, and the policy of writing them back.

use super::mechanism::nanoseconds;
use super::parameters::{WriteCacheParameters, WriteOrder};
use super::Mechanism;

/// A run of sectors that waits for the medium: the first, and the one behind the last.
pub type Run = (u64, u64);

/// Runs of sectors that wait for the medium, oldest first, without overlap.
///
/// Rewritten sectors are written to the medium once.
#[derive(Clone, Debug)]
pub struct WriteCache {
    rules: WriteCacheParameters,
    runs: Vec<Run>,
    sectors: u64,
    draining: bool,
}

impl WriteCache {
    /// An empty one.
    pub fn new(rules: WriteCacheParameters) -> Self {
        Self { rules, runs: Vec::new(), sectors: 0, draining: false }
    }

    /// Capacity in sectors.
    pub fn size(&self) -> u64 {
        self.rules.sectors
    }

    /// Sectors that wait.
    pub fn waiting(&self) -> u64 {
        self.sectors
    }

    /// Whether `sectors` more fit in.
    pub fn has_room(&self, sectors: u64) -> bool {
        self.sectors + sectors <= self.rules.sectors && self.runs.len() < self.rules.runs as usize
    }

    /// Whether all of these sectors wait, in one run.
    pub fn holds(&self, sector: u64, sectors: u64) -> bool {
        self.runs.iter().any(|run| run.0 <= sector && sector + sectors <= run.1)
    }

    /// Accept sectors, for which there is room. They extend a run that ends where they begin.
    pub fn take(&mut self, sector: u64, sectors: u64) {
        let end = sector + sectors;
        self.forget(sector, end);
        self.sectors += sectors;
        match self.runs.iter_mut().find(|run| run.1 == sector) {
            Some(run) => run.1 = end,
            None => self.runs.push((sector, end)),
        }
        self.draining |= self.sectors > self.rules.high_sectors;
    }

    /// Drop these sectors.
    pub fn forget(&mut self, sector: u64, end: u64) {
        let mut runs = Vec::with_capacity(self.runs.len() + 1);
        for run in self.runs.drain(..) {
            let parts = [(run.0, run.1.min(sector)), (run.0.max(end), run.1)];
            runs.extend(parts.into_iter().filter(|part| part.0 < part.1));
        }
        self.runs = runs;
        self.sectors = self.runs.iter().map(|run| run.1 - run.0).sum();
    }

    /// The time at which an arm that is free at time `free` begins to write, if no request comes
    /// after time `since`: at once from the high mark down to the low one, else after the idle
    /// time.
    pub fn begins(&self, free: u64, since: u64) -> Option<u64> {
        let pause = if self.draining { 0 } else { nanoseconds(self.rules.idle_ms) };
        (!self.runs.is_empty()).then_some(free.max(since + pause))
    }

    /// Remove the run that is written next, by an arm that sets out at time `at`.
    pub fn next(&mut self, mechanism: &Mechanism, at: u64) -> Option<Run> {
        let reach = |place: &usize| mechanism.reach(self.runs[*place].0, at, true);
        let place = match self.rules.order {
            WriteOrder::Arrival => 0,
            WriteOrder::Nearest => (0..self.runs.len()).min_by_key(reach)?,
        };
        let run = (place < self.runs.len()).then(|| self.runs.remove(place))?;
        self.sectors -= run.1 - run.0;
        self.draining &= self.sectors > self.rules.low_sectors;
        Some(run)
    }
}
