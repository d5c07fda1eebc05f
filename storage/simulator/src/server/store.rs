//! A server's storage: its cache, dirty data, and requests to its disks.

use super::ahead::Reader;
use super::cache::{Block, Cache};
use super::call::Call;
use super::dirty::Dirty;
use super::disk::Begun;
use super::disks::{Disks, Piece, REQUEST_MOST};
use super::parameters::Parameters;
use super::warm::{Warm, EXTENT_BLOCKS};
use super::work::mix;
use crate::drive::ParameterError;
use slab::Slab;
use std::collections::VecDeque;

/// One part in this many of the cache may be dirty.
const DIRTY_PART: usize = 5;
/// A request to a disk.
#[derive(Clone, Debug)]
pub(super) struct Job {
    disk: usize,
    file: u32,
    /// The blocks that it brings, first and number; none for a write.
    fills: (u64, u64),
    /// The calls that wait for it.
    pub(super) waiters: Vec<usize>,
    /// Bytes of the write buffer that it frees.
    frees: u64,
}

/// Data to make stable: runs of blocks of a file.
#[derive(Clone, Debug)]
struct Stable {
    flight: usize,
    file: u32,
    runs: Vec<(u64, u64)>,
    /// With its inode.
    bytes: u64,
}

/// Effects of a finished disk request.
pub struct Finished {
    /// The calls that waited for it.
    pub waiters: Vec<usize>,
    /// The calls whose data has room in the write buffer now.
    pub admitted: Vec<usize>,
}

/// Cache, dirty data and disks.
pub struct Store {
    pub(super) block: u64,
    warm: Warm,
    pub(super) cache: Cache,
    room: usize,
    pub(super) reader: Reader,
    dirty: Dirty,
    /// The disks.
    pub disks: Disks,
    pub(super) jobs: Slab<Job>,
    idle: Vec<usize>,
    buffer: u64,
    buffered: u64,
    waiting: VecDeque<Stable>,
    write_back: u64,
    /// Blocks that reads requested.
    pub asked: u64,
    /// The cache hits among them.
    pub hits: u64,
    /// Blocks that were read ahead.
    pub ahead: u64,
}

impl Store {
    /// An empty cache and idle disks; `seed` is that of random choices.
    pub fn new(parameters: &Parameters, seed: u64) -> Result<Self, ParameterError> {
        let room = usize::try_from(parameters.memory / parameters.block).unwrap_or(usize::MAX);
        Ok(Self {
            block: parameters.block,
            warm: Warm::new(parameters.warm, seed),
            cache: Cache::new(room),
            room,
            reader: parameters.ahead.reader(room, parameters.block),
            dirty: Dirty::default(),
            disks: Disks::new(&parameters.disks, seed)?,
            jobs: Slab::new(),
            idle: Vec::new(),
            buffer: parameters.write_buffer,
            buffered: 0,
            waiting: VecDeque::new(),
            write_back: parameters.write_back,
            asked: 0,
            hits: 0,
            ahead: 0,
        })
    }

    /// Accept a call's write; return the disk requests that it must wait for, and their bytes.
    pub fn write(&mut self, call: &Call, flight: usize, now: u64) -> (u32, u64) {
        let (first, end) = self.blocks(call);
        for index in first..end {
            let block = Block { file: call.file, index };
            self.warm.touch(block);
            if self.cache.touch(block).is_none() {
                self.insert(block, None, now);
            }
            if call.stable {
                self.cache.clean(block);
            } else if self.cache.soil(block) {
                self.dirty.add(call.file, index, now);
            }
        }
        if call.stable {
            return self.make_stable(call.file, vec![(first, end - first)], flight, now);
        }
        while self.dirty.len() > self.room / DIRTY_PART {
            let Some(file) = self.dirty.oldest(now) else { break };
            self.clean(file, now);
        }
        (0, 0)
    }

    /// Make a file's data stable for a call.
    pub fn commit(&mut self, file: u32, flight: usize, now: u64) -> (u32, u64) {
        let runs = self.take_runs(file);
        if runs.is_empty() {
            return (0, 0);
        }
        self.make_stable(file, runs, flight, now)
    }

    /// Write a block of names or attributes for a call: the inode, if it has a position.
    pub fn change(&mut self, call: &Call, flight: usize, now: u64) -> (u32, u64) {
        let file = if call.target == 0 { call.file } else { call.target };
        let index = mix(u64::from(file)) % EXTENT_BLOCKS;
        let runs = if self.disks.inode_bytes() == 0 { vec![(index, 1)] } else { Vec::new() };
        self.make_stable(file, runs, flight, now)
    }

    /// Learn the placement of files from a call.
    pub fn learn(&mut self, call: &Call) {
        self.disks.learn(call);
    }

    /// Drop the blocks that a call removes or cuts: they need not be written.
    pub fn forget(&mut self, call: &Call) {
        if let Some((file, end)) = call.cut() {
            let from = end.div_ceil(self.block);
            self.cache.forget(file, from);
            self.dirty.forget(file, from);
        }
        if let Some(file) = call.removed() {
            self.warm.forget(file);
        }
        self.disks.forget(call);
    }

    /// Write data that is old enough; return whether there is more.
    pub fn tick(&mut self, now: u64) -> bool {
        while let Some(file) = now.checked_sub(self.write_back).and_then(|by| self.dirty.oldest(by))
        {
            self.clean(file, now);
        }
        !self.dirty.is_empty()
    }

    /// Whether any data is dirty.
    pub fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Begin a request on a disk that is free.
    pub fn start(&mut self, now: u64) -> Option<Begun> {
        while let Some(&disk) = self.idle.last() {
            if let Some(begun) = self.disks.begin(disk, now) {
                return Some(begun);
            }
            self.idle.pop();
        }
        None
    }

    /// Finish a disk request.
    pub fn finish(&mut self, number: usize, now: u64) -> Finished {
        let job = self.jobs.remove(number);
        self.disks.done(job.disk);
        self.idle.push(job.disk);
        for index in job.fills.0..job.fills.0 + job.fills.1 {
            self.cache.arrived(Block { file: job.file, index }, number as u32);
        }
        self.buffered -= job.frees;
        let admitted = if job.frees > 0 { self.admit(now) } else { Vec::new() };
        Finished { waiters: job.waiters, admitted }
    }

    pub(super) fn blocks(&self, call: &Call) -> (u64, u64) {
        let first = call.offset / self.block;
        (first, (call.offset + u64::from(call.bytes.max(1))).div_ceil(self.block))
    }

    /// Touch a block outside the cache; return whether it was there before the first call.
    pub(super) fn was_warm(&mut self, block: Block) -> bool {
        let was = self.warm.touch(block);
        if was {
            self.insert(block, None, 0);
        }
        was
    }

    /// Whether a block is in the cache or on its way, or was there before the first call and is
    /// untouched.
    pub(super) fn holds(&self, block: Block) -> bool {
        self.cache.holds(block) || self.warm.has(block)
    }

    /// Insert a block; if that evicts a dirty one, write its file.
    fn insert(&mut self, block: Block, request: Option<u32>, now: u64) {
        if let Some(gone) = self.cache.insert(block, request) {
            self.clean(gone.file, now);
        }
    }

    /// Read blocks of a file from the disks; return the number of requests.
    pub(super) fn fill(
        &mut self,
        file: u32,
        from: u64,
        to: u64,
        flight: Option<usize>,
        now: u64,
    ) -> u32 {
        let mut count = 0;
        let most = (REQUEST_MOST / self.block).max(1);
        for first in (from..to).step_by(most as usize) {
            let blocks = most.min(to - first);
            let pieces = self.disks.pieces(file, first * self.block, blocks * self.block);
            let mut next = first;
            for piece in pieces {
                let upto = (next + piece.bytes.div_ceil(self.block)).min(first + blocks);
                let number = self.ask(file, piece, (next, upto - next), flight, 0, now);
                for index in next..upto {
                    let block = Block { file, index };
                    self.warm.touch(block);
                    self.insert(block, Some(number as u32), now);
                }
                next = upto;
                count += 1;
            }
        }
        count
    }

    /// Send a disk a piece: a read if it fills blocks, else a write.
    fn ask(
        &mut self,
        file: u32,
        piece: Piece,
        fills: (u64, u64),
        flight: Option<usize>,
        frees: u64,
        now: u64,
    ) -> usize {
        let waiters = flight.into_iter().collect();
        let number = self.jobs.insert(Job { disk: piece.disk, file, fills, waiters, frees });
        self.disks.push(number, piece, fills.1 == 0, now);
        self.idle.push(piece.disk);
        number
    }

    /// Take the dirty runs of a file's blocks.
    fn take_runs(&mut self, file: u32) -> Vec<(u64, u64)> {
        let runs = self.dirty.take(file);
        for &(first, count) in &runs {
            for index in first..first + count {
                self.cache.clean(Block { file, index });
            }
        }
        runs
    }

    /// Write the dirty data of a file in the background.
    fn clean(&mut self, file: u32, now: u64) {
        let runs = self.take_runs(file);
        self.write_out(file, &runs, None, false, now);
    }

    /// Write runs, for a call or into the write buffer with the inode; return the number of
    /// requests.
    fn write_out(
        &mut self,
        file: u32,
        runs: &[(u64, u64)],
        flight: Option<usize>,
        buffered: bool,
        now: u64,
    ) -> u32 {
        let in_bytes = |&(first, blocks): &(u64, u64)| (first * self.block, blocks * self.block);
        let runs: Vec<(u64, u64)> = runs.iter().map(in_bytes).collect();
        let pieces = self.disks.pieces_of(file, &runs, buffered || flight.is_some());
        for &piece in &pieces {
            let frees = if buffered { piece.bytes } else { 0 };
            self.ask(file, piece, (0, 0), flight, frees, now);
        }
        pieces.len() as u32
    }

    /// Make runs stable for a call: in the write buffer if there is room, else on disk. A call that
    /// waits for room waits for one event.
    fn make_stable(
        &mut self,
        file: u32,
        runs: Vec<(u64, u64)>,
        flight: usize,
        now: u64,
    ) -> (u32, u64) {
        let data: u64 = runs.iter().map(|run| run.1 * self.block).sum();
        let bytes = data + self.disks.inode_bytes();
        if bytes > self.buffer {
            return (self.write_out(file, &runs, Some(flight), false, now), bytes);
        }
        if self.waiting.is_empty() && self.buffered + bytes <= self.buffer {
            self.buffered += bytes;
            self.write_out(file, &runs, None, true, now);
            return (0, 0);
        }
        self.waiting.push_back(Stable { flight, file, runs, bytes });
        (1, bytes)
    }

    /// Admit waiting calls to the write buffer, as far as there is room.
    fn admit(&mut self, now: u64) -> Vec<usize> {
        let mut admitted = Vec::new();
        while let Some(next) = self.waiting.front() {
            if self.buffered + next.bytes > self.buffer {
                break;
            }
            let Some(Stable { flight, file, runs, bytes }) = self.waiting.pop_front() else {
                break;
            };
            self.buffered += bytes;
            self.write_out(file, &runs, None, true, now);
            admitted.push(flight);
        }
        admitted
    }
}
