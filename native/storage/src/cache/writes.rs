//! Blocks that wait to be written.

use super::{parts, Lru};
use std::collections::VecDeque;

/// When what was written goes to the medium (Hsu and Smith, section 4).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteRules {
    /// Room, in blocks.
    pub most: usize,
    /// Writing to the medium ends when no more than this share of the room waits.
    pub low: f64,
    /// It begins when more than this share waits.
    pub high: f64,
    /// Nothing waits for longer, in nanoseconds, unless the arm has no time.
    pub age: u64,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// All its blocks waited before it.
    Again,
    /// It made blocks wait.
    Anew,
    /// There is no room for it, and it is not taken.
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

/// What was written, until it is on the medium; the block written least lately goes first, and with it
/// those right before and behind that wait, too.
#[derive(Clone, Debug)]
pub struct WriteBuffer {
    rules: WriteRules,
    waiting: Lru<Waits>,
    /// Since when blocks wait; those of which this is no longer so are skipped.
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

    /// Take a write at time `now`, not before the last; one that is larger than the room, if nothing
    /// else is there.
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
            Written::Anew
        }
    }

    /// Take the blocks that are to go to the medium at time `now`; they keep their room until they are
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

    /// Give the room of blocks back that are on the medium.
    pub fn there(&mut self, group: Group) {
        if let Some(at) = self.leaving.iter().position(|own| *own == group) {
            self.leaving.swap_remove(at);
            self.leaving_blocks -= group.blocks;
        }
    }

    /// Which sectors of a block are here, a bit each; of one that is on its way to the medium, all.
    pub fn held(&self, block: u64) -> u8 {
        let leaves = |own: &Group| (own.block..own.block + own.blocks).contains(&block);
        if self.leaving.iter().any(leaves) {
            return 0xff;
        }
        self.waiting.get(block).map_or(0, |waits| waits.held)
    }

    /// When a block will have waited for as long as it may.
    pub fn due(&mut self) -> Option<u64> {
        while let Some(&(since, block)) = self.since.front() {
            if self.waiting.get(block).is_some_and(|waits| waits.since == since) {
                return Some(since.saturating_add(self.rules.age));
            }
            self.since.pop_front();
        }
        None
    }

    /// Whether less waits than what is midway between the marks.
    pub fn is_drained(&self) -> bool {
        !self.above(f64::midpoint(self.rules.low, self.rules.high))
    }

    /// Whether more than a share of the room waits.
    fn above(&self, share: f64) -> bool {
        self.waiting.len() as f64 > share * self.rules.most as f64
    }

    /// A block that has waited for as long as it may.
    fn overdue(&mut self, now: u64) -> Option<u64> {
        self.due().filter(|due| *due <= now)?;
        self.since.front().map(|own| own.1)
    }

    /// A block, with those right before and behind it that wait.
    fn group(&self, block: u64) -> Group {
        let waits = |block: &u64| self.waiting.get(*block).is_some();
        let before = (0..block).rev().take_while(waits).count() as u64;
        let behind = (block + 1..).take_while(waits).count() as u64;
        Group { block: block - before, blocks: before + 1 + behind }
    }
}

#[cfg(test)]
mod tests;
