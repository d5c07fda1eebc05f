//! A part of a volume: inodes, and behind them blocks of files.

use super::places::FILE_BLOCK;
use std::collections::BTreeSet;

const INODE: u64 = 128;

/// Free slots: those never used, and those given back.
#[derive(Clone, Debug)]
pub struct Slots {
    next: u64,
    end: u64,
    freed: BTreeSet<u64>,
}

/// Inodes and blocks.
#[derive(Clone, Debug)]
pub struct Area {
    at: u64,
    first: u64,
    /// Inodes of files.
    pub inodes: Slots,
    /// Blocks of files.
    pub blocks: Slots,
}

impl Slots {
    fn new(end: u64) -> Self {
        Self { next: 0, end, freed: BTreeSet::new() }
    }

    /// Take the first free one.
    pub fn take(&mut self) -> Option<u64> {
        self.freed.pop_first().or_else(|| {
            let slot = self.next;
            (slot < self.end).then(|| {
                self.next += 1;
                slot
            })
        })
    }

    /// Take a certain one; return whether it was free.
    pub fn take_own(&mut self, slot: u64) -> bool {
        if slot == self.next && slot < self.end {
            self.next += 1;
            return true;
        }
        self.freed.remove(&slot)
    }

    /// Give one back.
    pub fn give(&mut self, slot: u64) {
        if slot < self.next {
            self.freed.insert(slot);
        }
    }

    /// How many are free.
    pub fn free(&self) -> u64 {
        self.end - self.next + self.freed.len() as u64
    }
}

impl Area {
    /// An area from a byte on; one part in `inodes` is for inodes.
    pub fn new(at: u64, bytes: u64, inodes: u64) -> Self {
        let blocks = bytes / FILE_BLOCK;
        let tables = (blocks / inodes).max(1);
        Self {
            at,
            first: at + tables * FILE_BLOCK,
            inodes: Slots::new(tables * (FILE_BLOCK / INODE)),
            blocks: Slots::new(blocks.saturating_sub(tables)),
        }
    }

    /// The position of a block.
    pub fn block(&self, slot: u64) -> u64 {
        self.first + slot * FILE_BLOCK
    }

    /// The position of the block with an inode.
    pub fn inode(&self, slot: u64) -> u64 {
        self.at + slot * INODE / FILE_BLOCK * FILE_BLOCK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_taken_first_and_no_more_than_there_is() {
        let mut slots = Slots::new(4);
        assert_eq!([slots.take(), slots.take(), slots.take()], [Some(0), Some(1), Some(2)]);
        slots.give(1);
        slots.give(0);
        slots.give(3);
        assert_eq!(slots.free(), 3);
        assert!(slots.take_own(1) && !slots.take_own(1) && !slots.take_own(2));
        assert_eq!([slots.take(), slots.take(), slots.take()], [Some(0), Some(3), None]);
        assert!(!slots.take_own(4));
    }

    #[test]
    fn inodes_lie_before_blocks() {
        let area = Area::new(5 * FILE_BLOCK, 128 * FILE_BLOCK, 64);
        assert_eq!((area.inode(127), area.inode(128)), (5 * FILE_BLOCK, 6 * FILE_BLOCK));
        assert_eq!(area.block(1), 8 * FILE_BLOCK);
        assert_eq!((area.inodes.free(), area.blocks.free()), (256, 126));
    }
}
