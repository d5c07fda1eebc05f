//! The disk as a kernel sees it: requests in bytes of a partition, served one after the other in
//! the order of FreeBSD 4.8's `bufqdisksort`.

use birthmark_storage::drive::{self, Drive, ParameterError, Parameters};
use birthmark_storage::queue::{Elevator, Order, Waiting};
use serde::Serialize;
use std::collections::VecDeque;
use std::ops::Range;

/// Bytes of a sector.
pub const SECTOR: u64 = 512;

/// Upper bound of the clock in nanoseconds: 146 years.
const LONGEST: f64 = (1_u64 << 62) as f64;

/// A read or write of bytes of the partition, widened to whole sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its first byte, from the partition's beginning.
    pub start: u64,
    /// How many bytes.
    pub bytes: u32,
    /// Whether it writes.
    pub write: bool,
}

impl Request {
    /// The byte behind its last.
    fn end(&self) -> u64 {
        self.start.saturating_add(u64::from(self.bytes))
    }
}

/// A submitted request; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// Statistics of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Seconds during which a request was served.
    pub busy: f64,
    /// Seeks to another cylinder.
    pub moves: u64,
    /// Reads answered from the buffer, at least their beginning.
    pub hits: u64,
    /// Requests that were wholly in the range that takes no time.
    pub nvram: u64,
    /// Requests that reach beyond the drive's end, served as its last sectors.
    pub outside: u64,
}

/// A drive with a partition, one request at a time, others waiting in order.
///
/// Its clock is the latest time passed to `now`, or returned by `wait`. Times are in seconds
/// outside, and in nanoseconds here.
#[derive(Clone, Debug)]
pub struct Disk {
    drive: Drive,
    queue: Elevator,
    offset: u64,
    nvram: Vec<Range<u64>>,
    clock: u64,
    free: u64,
    busy: u64,
    done: VecDeque<Option<u64>>,
    dropped: u64,
    statistics: Statistics,
}

impl Disk {
    /// A drive, idle at time 0, and a partition that begins at a byte of it.
    pub fn new(parameters: &Parameters, partition_start: u64) -> Result<Self, ParameterError> {
        Ok(Self {
            drive: Drive::new(parameters)?,
            queue: Elevator::default(),
            offset: partition_start / SECTOR,
            nvram: Vec::new(),
            clock: 0,
            free: 0,
            busy: 0,
            done: VecDeque::new(),
            dropped: 0,
            statistics: Statistics::default(),
        })
    }

    /// Let these bytes of the partition be memory: requests for them are done at once.
    ///
    /// The drive serves only the sectors of a request before and behind them.
    pub fn set_nvram(&mut self, bytes: Vec<Range<u64>>) {
        self.nvram = bytes;
    }

    /// How many bytes there are from the partition's beginning to the drive's end.
    pub fn bytes(&self) -> u64 {
        self.sectors().saturating_sub(self.offset) * SECTOR
    }

    /// What it has done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics {
            busy: seconds(self.busy),
            moves: self.drive.mechanism().moves(),
            hits: self.drive.hits(),
            ..self.statistics
        }
    }

    /// Ask for a request at time `now`.
    pub fn submit(&mut self, request: Request, now: f64) -> Ticket {
        self.run_until(now);
        let ticket = Ticket(self.dropped + self.done.len() as u64);
        self.statistics.outside += u64::from(request.end() > self.bytes());
        match self.outside(request) {
            None => self.done.push_back(Some(self.clock)),
            Some(rest) => {
                self.done.push_back(None);
                self.queue.push(self.waiting(ticket, rest));
                if self.free <= self.clock {
                    self.serve(self.clock);
                }
            }
        }
        ticket
    }

    /// Return when a request is done, for a caller that waits from now on.
    ///
    /// That is the disk's clock if it was done before.
    pub fn wait(&mut self, ticket: Ticket) -> f64 {
        if let Some(place) = ticket.0.checked_sub(self.dropped) {
            while self.done.get(place as usize) == Some(&None) {
                self.serve(self.free);
            }
            let done = self.done.get(place as usize).copied().flatten();
            self.advance(done.unwrap_or(self.clock));
        }
        seconds(self.clock)
    }

    /// Whether a request is done at the disk's clock.
    pub fn is_done(&self, ticket: Ticket) -> bool {
        let place = ticket.0.checked_sub(self.dropped);
        let known = place.and_then(|place| self.done.get(place as usize));
        known.is_none_or(|done| done.is_some_and(|done| done <= self.clock))
    }

    /// Let it go on with what waits until time `now`.
    pub fn run_until(&mut self, now: f64) {
        if now.is_finite() {
            self.advance((now * 1e9).round().min(LONGEST) as u64);
        }
        while self.free <= self.clock && !self.queue.is_empty() {
            self.serve(self.free);
        }
    }

    fn sectors(&self) -> u64 {
        self.drive.mechanism().geometry().sectors()
    }

    fn advance(&mut self, now: u64) {
        self.clock = self.clock.max(now);
        while self.done.front().is_some_and(|done| done.is_some_and(|at| at <= self.clock)) {
            self.done.pop_front();
            self.dropped += 1;
        }
    }

    /// A request in sectors of the drive; beyond its end, the last ones.
    fn waiting(&self, ticket: Ticket, request: Request) -> Waiting {
        let first = request.start / SECTOR;
        let sectors = (request.end().div_ceil(SECTOR) - first).clamp(1, drive::MOST);
        let last = self.sectors().saturating_sub(sectors);
        let request = drive::Request {
            sector: self.offset.saturating_add(first).min(last),
            sectors: sectors.min(self.sectors()),
            write: request.write,
        };
        Waiting { number: ticket.0 as usize, since: self.clock, request }
    }

    /// Serve the first waiting request, from time `at`.
    fn serve(&mut self, at: u64) {
        let Some(waiting) = self.queue.pop(at, self.drive.mechanism()) else { return };
        // None is refused: `waiting` keeps all within the drive.
        let response =
            self.drive.serve(waiting.request, at).map_or(0, |service| service.response());
        self.free = at + response;
        self.busy += response;
        if let Some(done) = self.done.get_mut(waiting.number - self.dropped as usize) {
            *done = Some(self.free);
        }
    }

    /// The part of a request outside the memory.
    fn outside(&mut self, request: Request) -> Option<Request> {
        let (mut start, mut end) = (request.start, request.end());
        for memory in &self.nvram {
            let last = end.saturating_sub(1).max(start);
            match (memory.contains(&start), memory.contains(&last)) {
                (true, true) => {
                    self.statistics.nvram += 1;
                    return None;
                }
                (true, false) => start = memory.end,
                (false, true) => end = memory.start,
                (false, false) => {}
            }
        }
        Some(Request { start, bytes: (end - start) as u32, ..request })
    }
}

fn seconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests;
