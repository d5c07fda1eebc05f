//! Positions of a file's blocks on the drive, and its metadata.

use super::SECTOR;
use crate::drive::{OutsideError, Request};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A file: its blocks, and the metadata blocks needed to find them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// Its blocks, in their order.
    pub extents: Vec<Extent>,
    /// The block with its inode, and indirect blocks, in the order in which they are read.
    pub maps: Vec<Map>,
}

/// Contiguous blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// The first sector.
    pub sector: u64,
    /// Number of blocks.
    pub blocks: u64,
}

/// A block of metadata.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    /// Its first sector; files may share it.
    pub sector: u64,
    /// The blocks of the file that need it to be found.
    pub blocks: Range<u64>,
}

impl File {
    /// A file without metadata whose blocks are contiguous.
    pub fn contiguous(sector: u64, blocks: u64) -> Self {
        Self { extents: vec![Extent { sector, blocks }], maps: Vec::new() }
    }

    /// Number of its blocks.
    pub fn blocks(&self) -> u64 {
        self.extents.iter().fold(0, |sum, extent| sum.saturating_add(extent.blocks))
    }

    /// The first sector of a block, and the number of contiguous blocks from it on; none beyond the
    /// end. A block has `sectors` sectors.
    pub fn find(&self, block: u64, sectors: u64) -> Option<(u64, u64)> {
        let mut before = 0;
        for extent in &self.extents {
            let at = block - before;
            if at < extent.blocks {
                return Some((extent.sector + at * sectors, extent.blocks - at));
            }
            before += extent.blocks;
        }
        None
    }

    /// Check that it is on a drive that ends with a sector.
    pub fn check(&self, block: u64, end: u64) -> Result<(), OutsideError> {
        let per_block = block / SECTOR;
        let extents = self.extents.iter().map(|own| (own.sector, own.blocks * per_block));
        let maps = self.maps.iter().map(|map| (map.sector, per_block));
        extents
            .chain(maps)
            .try_for_each(|(sector, sectors)| Request { sector, sectors, write: false }.check(end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_in_their_extents() {
        let extents = vec![Extent { sector: 100, blocks: 2 }, Extent { sector: 7, blocks: 3 }];
        let file = File { extents, maps: vec![] };
        assert_eq!(file.blocks(), 5);
        let found: Vec<_> = (0..6).map(|block| file.find(block, 32)).collect();
        let expected = [(100, 2), (132, 1), (7, 3), (39, 2), (71, 1)];
        assert_eq!(found, expected.map(Some).into_iter().chain([None]).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_behind_the_end_of_the_drive_is_refused() {
        let file = File::contiguous(10, 2);
        assert!(file.check(512, 12).is_ok() && file.check(512, 11).is_err());
        let maps = vec![Map { sector: 12, blocks: 0..2 }];
        assert!(File { maps, ..file }.check(512, 12).is_err());
    }
}
