//! Positions of a benchmark's files: in a fresh file system of FreeBSD 4.8, one written after the
//! other.

use crate::ffs::{Error, FileSystem, Geometry, GeometryError, Kernel, ROOT};
use crate::layout::Seeded;
use birthmark_storage::store::{Extent, File, Map};
use serde::Deserialize;
use std::ops::Range;

/// Bytes of a sector.
const SECTOR: u64 = 512;

/// Files in a directory at the top of a file system, in part of a drive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Files {
    /// The sectors of the partition.
    pub partition: Range<u64>,
    /// Bytes of each, in the order of writing.
    pub bytes: Vec<u64>,
    /// Seed of the directory's cylinder group (`ffs_dirpref`).
    pub seed: u64,
}

/// Impossible files.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// No file system fits into the partition.
    #[error("partition: {0}")]
    Geometry(#[from] GeometryError),
    /// The files do not fit into it.
    #[error("bytes: {0}")]
    Space(#[from] Error),
}

impl Files {
    /// Their positions on the drive. Blocks are not moved together later (`ffs_reallocblks`).
    pub fn place(&self) -> Result<Vec<File>, FilesError> {
        let sectors = self.partition.end.saturating_sub(self.partition.start);
        let geometry = Geometry::freebsd48(sectors.saturating_mul(SECTOR))?;
        let random = Seeded::new(self.seed);
        let mut files = FileSystem::new(geometry, Kernel::FreeBsd48, random)?;
        let directory = files.mkdir(ROOT, false)?;
        let mut placed = Vec::new();
        for &bytes in &self.bytes {
            let inode = files.create(directory, false)?;
            files.extend(inode, bytes)?;
            placed.push(self.placed(&files, inode));
        }
        Ok(placed)
    }

    fn placed(&self, files: &FileSystem<Seeded>, inode: u32) -> File {
        let geometry = &files.volume.geometry;
        let Some(file) = files.file(inode) else { return File::default() };
        let blocks = file.size.div_ceil(geometry.bsize.into()) as u32;
        let sector = |address: u32| {
            self.partition.start + u64::from(address) * u64::from(geometry.fsize) / SECTOR
        };
        let mut placed = File::default();
        placed.maps.push(Map { sector: self.inode(geometry, inode), blocks: 0..blocks.into() });
        for lbn in 0..blocks {
            let at = file.block(lbn).map_or(0, sector);
            match placed.extents.last_mut() {
                Some(last) if last.sector + last.blocks * self.per_block(geometry) == at => {
                    last.blocks += 1
                }
                _ => placed.extents.push(Extent { sector: at, blocks: 1 }),
            }
            for address in geometry.slots(lbn).filter_map(|slot| file.indirect(slot)) {
                let (at, lbn) = (sector(address), u64::from(lbn));
                match placed.maps.iter_mut().find(|map| map.sector == at) {
                    Some(map) => map.blocks.end = lbn + 1,
                    None => placed.maps.push(Map { sector: at, blocks: lbn..lbn + 1 }),
                }
            }
        }
        placed
    }

    /// Sectors of a block.
    fn per_block(&self, geometry: &Geometry) -> u64 {
        u64::from(geometry.bsize) / SECTOR
    }

    /// The first sector of the block that an inode is in.
    fn inode(&self, geometry: &Geometry, inode: u32) -> u64 {
        let group = geometry.inode_group(inode);
        let begin = u64::from(group) * u64::from(geometry.fpg) * u64::from(geometry.fsize);
        let byte = u64::from(inode % geometry.ipg) * u64::from(geometry.inode_size());
        let block = byte / u64::from(geometry.bsize) * u64::from(geometry.bsize);
        self.partition.start + (begin + geometry.inode_table() + block) / SECTOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    fn files(bytes: Vec<u64>, seed: u64) -> Files {
        Files { partition: 63..4_000_063, bytes, seed }
    }

    #[test]
    fn an_indirect_block_lies_between_the_twelfth_block_and_the_next() {
        let placed = files(vec![MB], 1).place().unwrap();
        let [file] = &placed[..] else { panic!("{placed:?}") };
        let [first, second] = file.extents[..] else { panic!("{file:?}") };
        assert_eq!((first.blocks, second.blocks), (12, 52));
        assert_eq!(file.maps[1], Map { sector: first.sector + 12 * 32, blocks: 12..64 });
        assert_eq!(second.sector, first.sector + 13 * 32);
        assert_eq!(file.maps[0].blocks, 0..64);
        assert!(file.maps[0].sector < first.sector, "inodes are at the beginning of a group");
    }

    #[test]
    fn a_long_file_goes_on_in_another_group_and_needs_two_indirect_blocks_there() {
        let placed = files(vec![100 * MB], 1).place().unwrap();
        let behind = &placed[0].maps[2..];
        assert_eq!(behind.len(), 2);
        assert!(behind.iter().all(|map| map.blocks == (12 + 4096..6400)));
        let (sector, _) = placed[0].find(12 + 4096, 32).unwrap();
        let (before, _) = placed[0].find(11 + 4096, 32).unwrap();
        assert!(sector.abs_diff(before) > 100_000, "{before} {sector}");
    }

    #[test]
    fn each_seed_is_another_group() {
        let first = |seed| files(vec![MB], seed).place().unwrap()[0].extents[0].sector;
        let mut found: Vec<u64> = (0..20).map(first).collect();
        found.sort_unstable();
        found.dedup();
        assert!(found.len() > 5, "{found:?}");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let error = |files: Files| files.place().unwrap_err().to_string();
        assert!(error(files(vec![1 << 40], 1)).starts_with("bytes: "));
        assert!(error(Files { partition: 7..7, ..files(vec![], 1) }).starts_with("partition: "));
    }
}
