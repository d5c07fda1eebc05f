//! A drive and the requests for it.

use serde::Serialize;
use std::collections::VecDeque;
use std::ops::Range;

use super::{Buffer, Elevator, Mechanism, ParameterError, Parameters, WriteCache, SECTOR};

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

/// A request that was submitted; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// What a drive has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Statistics {
    /// Seconds during which a request was served.
    pub busy: f64,
    /// How often the arm went to another cylinder.
    pub moves: u64,
    /// Reads answered from the buffer, at least their beginning.
    pub hits: u64,
    /// Requests that were wholly in the range that takes no time.
    pub nvram: u64,
    /// Requests that reach beyond the drive's end, served as its last sectors.
    pub outside: u64,
}

/// A drive, one request at a time, others waiting in order.
///
/// Its clock is the latest time that it was told of: by `now`, or by an answer of `wait`.
#[derive(Clone, Debug)]
pub struct Drive {
    mechanism: Mechanism,
    buffer: Buffer,
    cache: Option<WriteCache>,
    queue: Elevator<(Ticket, Request)>,
    offset: u64,
    nvram: Range<u64>,
    overhead: f64,
    per_sector: f64,
    clock: f64,
    free: f64,
    settled: f64,
    done: VecDeque<f64>,
    forgotten: u64,
    statistics: Statistics,
}

impl Drive {
    /// A drive, idle at time 0, and a partition that begins at a byte of it.
    pub fn new(parameters: &Parameters, partition_start: u64) -> Result<Self, ParameterError> {
        parameters.check()?;
        let segment = u64::from(parameters.segment_kib) * 1024 / SECTOR;
        let memory = segment * u64::from(parameters.segments.max(1));
        Ok(Self {
            mechanism: Mechanism::new(parameters),
            buffer: Buffer::new(parameters.segments, segment),
            cache: parameters.write_cache.then(|| WriteCache::new(memory)),
            queue: Elevator::default(),
            offset: partition_start / SECTOR,
            nvram: 0..0,
            overhead: parameters.overhead_ms / 1e3,
            per_sector: SECTOR as f64 / (parameters.interface_mb_per_s * 1e6),
            clock: 0.0,
            free: 0.0,
            settled: 0.0,
            done: VecDeque::new(),
            forgotten: 0,
            statistics: Statistics::default(),
        })
    }

    /// Let these bytes of the partition be memory: requests for them are done at once.
    ///
    /// Of a request that is partly in there, the disk serves the sectors before and behind.
    pub fn set_nvram(&mut self, bytes: Range<u64>) {
        self.nvram = bytes;
    }

    /// How many bytes there are from the partition's beginning to the drive's end.
    pub fn bytes(&self) -> u64 {
        self.mechanism.layout().sectors().saturating_sub(self.offset) * SECTOR
    }

    /// What it has done so far.
    pub fn statistics(&self) -> Statistics {
        Statistics { moves: self.mechanism.moves(), ..self.statistics }
    }

    /// How many requests wait, without the one being served.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Ask for a request at time `now`, in seconds.
    pub fn submit(&mut self, request: Request, now: f64) -> Ticket {
        self.run_until(now);
        let ticket = Ticket(self.forgotten + self.done.len() as u64);
        self.statistics.outside += u64::from(request.end() > self.bytes());
        match self.outside(request) {
            None => self.done.push_back(self.clock),
            Some(rest) => {
                self.done.push_back(f64::INFINITY);
                self.queue.push(self.offset + rest.start / SECTOR, (ticket, rest));
                if self.free <= self.clock {
                    self.serve(self.clock);
                }
            }
        }
        ticket
    }

    /// Return when a request is done: the time at which one who waits from now on goes on.
    ///
    /// That is the drive's clock if it was done before.
    pub fn wait(&mut self, ticket: Ticket) -> f64 {
        let Some(place) = ticket.0.checked_sub(self.forgotten) else { return self.clock };
        while self.done.get(place as usize).is_some_and(|done| done.is_infinite()) {
            self.serve(self.free);
        }
        let done = self.done.get(place as usize).copied().unwrap_or(self.clock);
        self.advance(done);
        self.clock
    }

    /// Whether a request is done at the drive's clock.
    pub fn is_done(&self, ticket: Ticket) -> bool {
        let place = ticket.0.checked_sub(self.forgotten);
        let done = place.and_then(|place| self.done.get(place as usize));
        done.is_none_or(|&done| done <= self.clock)
    }

    /// Let it go on with what waits until time `now`.
    pub fn run_until(&mut self, now: f64) {
        if now.is_finite() {
            self.advance(now);
        }
        while self.free <= self.clock && !self.queue.is_empty() {
            self.serve(self.free);
        }
    }

    /// Serve all that waits; return when the last is done.
    pub fn finish(&mut self) -> f64 {
        while !self.queue.is_empty() {
            self.serve(self.free);
        }
        self.advance(self.free.max(self.settled));
        self.clock
    }

    fn advance(&mut self, now: f64) {
        self.clock = self.clock.max(now);
        while self.done.front().is_some_and(|&done| done <= self.clock) {
            self.done.pop_front();
            self.forgotten += 1;
        }
    }

    /// Serve the first that waits, from time `at`.
    fn serve(&mut self, at: f64) {
        let Some((ticket, request)) = self.queue.pop() else { return };
        let first = request.start / SECTOR;
        let sectors = request.end().div_ceil(SECTOR) - first;
        let last = self.mechanism.layout().sectors().saturating_sub(sectors);
        let sector = (self.offset + first).min(last);
        let from = at + self.overhead;
        self.buffer.fill(&mut self.mechanism, from);
        self.free = if request.write {
            self.write(sector, sectors, from)
        } else {
            self.read(sector, sectors, from)
        };
        self.statistics.busy += self.free - at;
        if let Some(done) = self.done.get_mut((ticket.0 - self.forgotten) as usize) {
            *done = self.free;
        }
    }

    /// The host takes sectors while others are still read, so the slower of both counts.
    fn read(&mut self, sector: u64, sectors: u64, from: f64) -> f64 {
        let passed_on = from + sectors as f64 * self.per_sector;
        if let Some(there) = self.buffer.read(&mut self.mechanism, sector, sectors, from) {
            self.statistics.hits += 1;
            return passed_on.max(there);
        }
        let read = self.mechanism.transfer(sector, sectors, from.max(self.settled), false);
        self.buffer.keep(sector, sectors, read);
        passed_on.max(read)
    }

    fn write(&mut self, sector: u64, sectors: u64, from: f64) -> f64 {
        self.buffer.write(sector, sectors);
        let written = self.mechanism.transfer(sector, sectors, from.max(self.settled), true);
        self.settled = written;
        let taken = from + sectors as f64 * self.per_sector;
        match &mut self.cache {
            None => written.max(taken),
            Some(cache) => cache.take(sectors, written, taken),
        }
    }

    /// The part of a request that is not in memory.
    fn outside(&mut self, request: Request) -> Option<Request> {
        let (start, end) = (request.start, request.end());
        let within = |byte| self.nvram.start <= byte && byte < self.nvram.end;
        let (from, to) = match (within(start), within(end.saturating_sub(1).max(start))) {
            (true, true) => {
                self.statistics.nvram += 1;
                return None;
            }
            (true, false) => (self.nvram.end, end),
            (false, true) => (start, self.nvram.start),
            (false, false) => (start, end),
        };
        Some(Request { start: from, bytes: (to - from) as u32, ..request })
    }
}
