//! Blocks that wait to be written.

use super::{parts, Lru};
use std::collections::VecDeque;

/// When written blocks go to the medium (Hsu and Smith, section 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteRules {
    /// Capacity, in blocks.
    pub most: usize,
    /// Writing back stops when at most this share of the capacity is dirty.
    pub low: f64,
    /// Writing back starts when more than this share is dirty.
    pub high: f64,
    /// Age in nanoseconds at which a block is written back, if the arm is free.
    pub age: u64,
}

/// Outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// All its blocks were dirty already.
    Again,
    /// It made blocks dirty.
    New,
    /// There is no room; the write is refused.
    NoRoom,
}

/// Blocks that go to the medium in one write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// The first.
    pub block: u64,
    /// How many.
    pub blocks: u64,
}

/// Written blocks, until they are on the medium. The least recently written goes first, together
/// with adjacent dirty blocks.
#[derive(Clone, Debug)]
pub struct WriteBuffer {
    rules: WriteRules,
    waiting: Lru<Waits>,
    /// Times since which blocks wait; outdated entries are skipped.
    since: VecDeque<(u64, u64)>,
    leaving: Vec<Group>,
    leaving_blocks: u64,
    draining: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waits {
    held: u8,
    since: u64,
}

impl WriteBuffer {
    /// An empty one.
    pub fn new(rules: WriteRules) -> Self {
        Self {
            rules,
            waiting: Lru::default(),
            since: VecDeque::new(),
            leaving: Vec::new(),
            leaving_blocks: 0,
            draining: false,
        }
    }

    /// Accept a write at time `now`, not before the last; one larger than the capacity, if the
    /// buffer is empty.
    pub fn write(&mut self, sector: u64, sectors: u64, now: u64) -> Written {
        let new =
            parts(sector, sectors).filter(|(block, _)| self.waiting.get(*block).is_none()).count();
        let used = self.waiting.len() + self.leaving_blocks as usize;
        if new > 0 && used > 0 && used + new > self.rules.most {
            self.draining = true;
            return Written::NoRoom;
        }
        for (block, own) in parts(sector, sectors) {
            if let Some(waits) = self.waiting.touch(block) {
                waits.held |= own;
            } else {
                self.waiting.add(block, Waits { held: own, since: now });
                self.since.push_back((now, block));
            }
        }
        self.draining |= self.above(self.rules.high);
        if new == 0 {
            Written::Again
        } else {
            Written::New
        }
    }

    /// Take the blocks to write to the medium at time `now`; they occupy room until
    /// [`there`](Self::there).
    pub fn leave(&mut self, now: u64) -> Option<Group> {
        let drained = self.waiting.oldest().filter(|_| self.draining);
        let first = drained.or_else(|| self.overdue(now))?;
        let group = self.group(first);
        for block in group.block..group.block + group.blocks {
            self.waiting.remove(block);
        }
        self.leaving.push(group);
        self.leaving_blocks += group.blocks;
        self.draining = self.draining && self.above(self.rules.low);
        Some(group)
    }

    /// Free the room of blocks that are on the medium.
    pub fn there(&mut self, group: Group) {
        if let Some(at) = self.leaving.iter().position(|own| *own == group) {
            self.leaving.swap_remove(at);
            self.leaving_blocks -= group.blocks;
        }
    }

    /// The sectors of a block that are here, a bit each; all for one on its way to the medium.
    pub fn held(&self, block: u64) -> u8 {
        let leaves = |own: &Group| (own.block..own.block + own.blocks).contains(&block);
        if self.leaving.iter().any(leaves) {
            return 0xff;
        }
        self.waiting.get(block).map_or(0, |waits| waits.held)
    }

    /// The time at which a block reaches the age limit.
    pub fn due(&mut self) -> Option<u64> {
        while let Some(&(since, block)) = self.since.front() {
            if self.waiting.get(block).is_some_and(|waits| waits.since == since) {
                return Some(since.saturating_add(self.rules.age));
            }
            self.since.pop_front();
        }
        None
    }

    /// Whether less is dirty than midway between the marks.
    pub fn is_drained(&self) -> bool {
        !self.above(f64::midpoint(self.rules.low, self.rules.high))
    }

    /// Whether more than a share of the capacity is dirty.
    fn above(&self, share: f64) -> bool {
        self.waiting.len() as f64 > share * self.rules.most as f64
    }

    /// A block at the age limit.
    fn overdue(&mut self, now: u64) -> Option<u64> {
        self.due().filter(|due| *due <= now)?;
        self.since.front().map(|own| own.1)
    }

    /// A block, with the adjacent dirty ones.
    fn group(&self, block: u64) -> Group {
        let waits = |block: &u64| self.waiting.get(*block).is_some();
        let before = (0..block).rev().take_while(waits).count() as u64;
        let behind = (block + 1..).take_while(waits).count() as u64;
        Group { block: block - before, blocks: before + 1 + behind }
    }
}

#[cfg(test)]
mod tests;
