//! The blocks of files that are in memory.

use super::File;
use crate::cluster::Blocks;
use foldhash::fast::FixedState;
use std::collections::HashMap;

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

/// The blocks of files, without eviction: nothing is read twice.
#[derive(Clone, Debug)]
pub struct Memory {
    blocks: Vec<Vec<(Place, bool)>>,
    /// Number of contiguous blocks from each on, itself included.
    runs: Vec<Vec<u64>>,
    /// Blocks of metadata, by their first sectors.
    maps: HashMap<u64, Place, FixedState>,
}

impl Memory {
    /// Empty memory for files.
    pub fn new(files: &[File]) -> Self {
        let nothing = |file: &File| vec![(Place::Drive, false); file.blocks() as usize];
        let run =
            |file: &File| file.extents.iter().flat_map(|own| (1..=own.blocks).rev()).collect();
        Self {
            blocks: files.iter().map(nothing).collect(),
            runs: files.iter().map(run).collect(),
            maps: HashMap::default(),
        }
    }

    /// The state of the block of metadata that begins with a sector.
    pub fn map(&self, sector: u64) -> Place {
        self.maps.get(&sector).copied().unwrap_or_default()
    }

    /// Set the state of a block of metadata.
    pub fn put_map(&mut self, sector: u64, place: Place) {
        self.maps.insert(sector, place);
    }

    /// The state of a block.
    pub fn place(&self, file: u64, block: u64) -> Place {
        self.blocks[file as usize][block as usize].0
    }

    /// Set the state of a block.
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
        self.runs[file as usize].get(block as usize).copied().unwrap_or(0)
    }

    fn mark(&mut self, file: u64, block: u64) {
        self.blocks[file as usize][block as usize].1 = true;
    }

    fn unmark(&mut self, file: u64, block: u64) -> bool {
        std::mem::take(&mut self.blocks[file as usize][block as usize].1)
    }
}
