//! Requests, split into chunks that are served in parallel.

use super::disk::Extent;
use super::load::{Ask, Kind};
use super::{BLOCK, CHUNK};
use std::ops::{AddAssign, Index, IndexMut};

/// Where the time of a request goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    ManagerWait,
    Manager,
    Network,
    ProcessorWait,
    Processor,
    DiskWait,
    Disk,
}

/// Nanoseconds by [`Part`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent([u64; 7]);

impl Index<Part> for Spent {
    type Output = u64;

    fn index(&self, part: Part) -> &u64 {
        &self.0[part as usize]
    }
}

impl IndexMut<Part> for Spent {
    fn index_mut(&mut self, part: Part) -> &mut u64 {
        &mut self.0[part as usize]
    }
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += other);
    }
}

impl Spent {
    /// The total.
    pub fn sum(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// The blocks of a chunk that a request asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Number of the request.
    pub request: u32,
    pub file: u32,
    /// The first block, from the file's beginning.
    pub first: u64,
    pub blocks: u64,
    pub write: bool,
    /// Blocks that missed all caches.
    pub missed: u64,
    pub spent: Spent,
}

impl Piece {
    /// The pieces of a request for blocks.
    pub fn of(ask: &Ask, request: u32) -> impl Iterator<Item = Self> {
        let (file, write) = (ask.file, ask.kind == Kind::Write);
        let end = (ask.offset + ask.bytes.max(1)).div_ceil(BLOCK);
        let mut first = ask.offset / BLOCK;
        std::iter::from_fn(move || {
            let blocks = (CHUNK - first % CHUNK).min(end - first);
            let spent = Spent::default();
            let piece = Self { request, file, first, blocks, write, missed: 0, spent };
            first += blocks;
            (blocks > 0).then_some(piece)
        })
    }

    /// The keys of its blocks in a cache.
    pub fn keys(&self) -> impl Iterator<Item = u64> {
        let file = u64::from(self.file) << 32;
        (self.first..self.first + self.blocks).map(move |block| file | (block & 0xffff_ffff))
    }

    /// The disk among `disks`: a file's number selects its first disk, and chunks go round from
    /// there.
    pub fn disk(&self, disks: usize, seed: u64) -> usize {
        ((mixed(u64::from(self.file) ^ seed) % disks as u64 + self.first / CHUNK) % disks as u64)
            as usize
    }

    /// The blocks that the disk reads or writes for it.
    pub fn extent(&self) -> Extent {
        let chunk = mixed((u64::from(self.file) << 32) + self.first / CHUNK);
        let blocks = if self.write { self.blocks } else { self.missed };
        Extent { chunk, first: self.first % CHUNK, blocks }
    }
}

/// A well-mixed number (the finalizer of Steele, Lea and Flood's SplitMix, 2014).
fn mixed(number: u64) -> u64 {
    let mut own = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    own = (own ^ (own >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    own = (own ^ (own >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    own ^ (own >> 31)
}
