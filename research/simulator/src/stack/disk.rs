//! A drive with its memory and queues.

use super::rules::Rules;
use crate::cache::{parts, Blocks, WriteBuffer, BLOCK};
use crate::prefetch::Prefetcher;
use birthmark_storage::drive::{Mechanism, ParameterError, Parameters, ReadOn};
use birthmark_storage::queue::{Aged, Waiting};
use std::collections::VecDeque;
use std::ops::Range;

/// Times of a drive's controller, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// For a hit in memory.
    pub hit: u64,
    /// For a read from the medium.
    pub read: u64,
    /// For a write to the medium.
    pub write: u64,
    /// To pass a sector between drive and host.
    pub bus: u64,
}

/// A drive, its memory, and its queues.
pub struct Disk {
    pub mechanism: Mechanism,
    pub times: Times,
    pub cache: Blocks,
    pub pool: Option<Blocks>,
    pub writes: Option<WriteBuffer>,
    pub prefetcher: Box<dyn Prefetcher>,
    /// Requests beyond the queue depth.
    pub outside: VecDeque<Waiting>,
    /// Number of accepted requests that are not done.
    pub accepted: usize,
    /// Requests that wait for the arm.
    pub queue: Aged,
    /// Groups that go to the medium when no read waits.
    pub leaving: Aged,
    /// Number of groups on their way to the medium.
    pub under_way: usize,
    /// Writes that wait for room.
    pub held: VecDeque<Waiting>,
    /// The arm's work.
    pub doing: Option<Doing>,
    /// Reading ahead, which the next request aborts.
    pub ahead: Option<ReadOn>,
    /// Time of the next check without arrivals.
    pub look: Option<u64>,
}

/// Work of an arm.
pub enum Doing {
    /// It reads sectors, and others of the track for free, and may go on up to a sector.
    Read { sectors: Range<u64>, free: [Range<u64>; 2], limit: u64 },
    /// It writes a request's data.
    Write,
    /// It writes back blocks of the write buffer.
    Leave { block: u64, blocks: u64 },
}

impl Disk {
    pub fn new(parameters: &Parameters, rules: &Rules) -> Result<Self, ParameterError> {
        parameters.check()?;
        let nanoseconds = |ms: f64| (ms * 1e6).round() as u64;
        let overheads = &parameters.overheads_ms;
        Ok(Self {
            mechanism: Mechanism::new(parameters)?,
            times: Times {
                hit: nanoseconds(overheads.read_hit_after_read),
                read: nanoseconds(overheads.read_miss_after_read),
                write: nanoseconds(overheads.write_miss_after_write),
                bus: nanoseconds(parameters.bus_ms_per_sector),
            },
            cache: Blocks::new(rules.cache_blocks),
            pool: (rules.pool_blocks > 0).then(|| Blocks::new(rules.pool_blocks)),
            writes: rules.write_buffer.map(|own| WriteBuffer::new(own.rules())),
            prefetcher: rules.prefetcher(),
            outside: VecDeque::new(),
            accepted: 0,
            queue: rules.queue(),
            leaving: rules.queue(),
            under_way: 0,
            held: VecDeque::new(),
            doing: None,
            ahead: None,
            look: None,
        })
    }

    /// Number of its sectors.
    pub fn end(&self) -> u64 {
        self.mechanism.geometry().sectors()
    }

    /// The range of sectors from the first to the last missing one.
    pub fn missing(&self, sector: u64, sectors: u64) -> Option<Range<u64>> {
        let mut missing: Option<Range<u64>> = None;
        for (block, own) in parts(sector, sectors) {
            let lacks = own & !self.held(block);
            if lacks != 0 {
                let first = block * BLOCK + u64::from(lacks.trailing_zeros());
                let end = (block + 1) * BLOCK - u64::from(lacks.leading_zeros());
                missing = Some(missing.map_or(first, |own| own.start)..end);
            }
        }
        missing
    }

    fn held(&self, block: u64) -> u8 {
        let pool = self.pool.as_ref().map_or(0, |pool| pool.held(block));
        let writes = self.writes.as_ref().map_or(0, |writes| writes.held(block));
        self.cache.held(block) | pool | writes
    }

    /// Use sectors in memory: prefetched ones move to the cache.
    pub fn hit(&mut self, sector: u64, sectors: u64) {
        if let Some(pool) = &mut self.pool {
            pool.touch(sector, sectors);
            self.cache.fill(sector, sectors);
        } else {
            self.cache.touch(sector, sectors);
        }
    }

    /// Update memory after a write of sectors.
    pub fn overwrite(&mut self, sector: u64, sectors: u64) {
        self.cache.overwrite(sector, sectors);
        if let Some(pool) = &mut self.pool {
            pool.overwrite(sector, sectors);
        }
    }

    /// Store prefetched sectors.
    pub fn keep(&mut self, sectors: &Range<u64>) {
        let count = sectors.end - sectors.start;
        self.pool.as_mut().unwrap_or(&mut self.cache).fill(sectors.start, count);
    }

    /// Read ahead up to a time, if that is under way.
    pub fn read_on(&mut self, until: u64) {
        if let Some(mut ahead) = self.ahead {
            let passed = ahead.read(&mut self.mechanism, until);
            self.keep(&passed);
            self.ahead = Some(ahead).filter(|ahead| !ahead.is_over());
        }
    }
}
