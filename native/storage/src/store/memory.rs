//! The blocks of files that a machine has in memory.

use crate::cluster::Blocks;

/// Whether a block is in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// On the drive only.
    #[default]
    Drive,
    /// Under way: the read that brings it.
    UnderWay(usize),
    /// Here.
    Here,
}

/// The blocks of files, none of which is ever thrown away: nothing is read twice.
#[derive(Clone, Debug)]
pub struct Memory {
    blocks: Vec<Vec<(Place, bool)>>,
}

impl Memory {
    /// Nothing of files that have so many blocks.
    pub fn new(files: impl Iterator<Item = u64>) -> Self {
        let nothing = |blocks| vec![(Place::Drive, false); blocks as usize];
        Self { blocks: files.map(nothing).collect() }
    }

    /// Where a block is.
    pub fn place(&self, file: u64, block: u64) -> Place {
        self.blocks[file as usize][block as usize].0
    }

    /// Let a block be somewhere.
    pub fn put(&mut self, file: u64, block: u64, place: Place) {
        self.blocks[file as usize][block as usize].0 = place;
    }

    /// Whether a block is the last of its file.
    pub fn is_last(&self, file: u64, block: u64) -> bool {
        block + 1 == self.blocks[file as usize].len() as u64
    }
}

impl Blocks for Memory {
    fn held(&self, file: u64, block: u64) -> bool {
        let blocks = &self.blocks[file as usize];
        blocks.get(block as usize).is_some_and(|own| own.0 != Place::Drive)
    }

    fn contiguous(&self, file: u64, block: u64) -> u64 {
        (self.blocks[file as usize].len() as u64).saturating_sub(block)
    }

    fn mark(&mut self, file: u64, block: u64) {
        self.blocks[file as usize][block as usize].1 = true;
    }

    fn unmark(&mut self, file: u64, block: u64) -> bool {
        std::mem::take(&mut self.blocks[file as usize][block as usize].1)
    }
}
