//! A region of the disk for hot files and directories.

use super::filesystem::ROOT;
use super::geometry::{Format, Geometry};
use birthmark_contract::hints::HOT_BLOCKS;
use serde::Deserialize;
use std::ops::Range;
use thiserror::Error;

/// The parts of a region closed to other than hot files and directories, while there is room
/// elsewhere: `BM_REGION_…` of birthmark_hint.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RegionMode {
    /// Nothing.
    Preferred,
    /// Its fragments, not its inodes.
    Data,
    /// Both.
    Reserved,
}

/// A range of bytes of a file system: fragments of one cylinder group, and its inodes in the range
/// or the group's first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The cylinder group.
    pub cg: u32,
    /// Its inodes; there may be none.
    pub inodes: Range<u32>,
    /// Its fragments from the first to the last one for data; there may be none.
    pub fragments: Range<u32>,
    /// Its parts closed to others.
    pub mode: RegionMode,
    /// Number of a hot file's first blocks that are placed in it.
    pub hot_blocks: u32,
}

/// The reason why a range of bytes is no region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum RegionError {
    /// It ends beyond the file system.
    #[error("the region ends at byte {end}, expected at most {size}, where the file system ends")]
    Beyond {
        /// Where the region would end.
        end: u64,
        /// Bytes of the file system.
        size: u64,
    },
    /// It has parts of two cylinder groups.
    #[error("the region ends at byte {end}, expected at most {group}, where its group ends")]
    Groups {
        /// Where the region would end.
        end: u64,
        /// Where the group of its first byte ends.
        group: u64,
    },
    /// It has more inodes than a cylinder group.
    #[error("the region has {inodes} inodes, expected at most {ipg}, as many as a group has")]
    Inodes {
        /// Inodes of the region.
        inodes: u32,
        /// Inodes of a group.
        ipg: u32,
    },
    /// Its inodes would be initialized before others that precede them.
    #[error("the region begins with inode {inode}, expected {first}, the first of its group")]
    Unmade {
        /// Its first inode.
        inode: u32,
        /// That of the group.
        first: u32,
    },
    /// It has no whole inode, and no whole fragment for data.
    #[error("the region from byte {0} on has no inode and no fragment for data")]
    Empty(u64),
}

impl Region {
    /// The fragments that lie wholly in `length` bytes from byte `start` on, and the first `inodes`
    /// of their group, or, if these are 0, the inodes that lie in the bytes, too. The root's inode
    /// and those before it are excluded.
    pub fn of(
        geometry: &Geometry,
        start: u64,
        length: u64,
        inodes: u32,
        mode: RegionMode,
    ) -> Result<Region, RegionError> {
        let fsize = u64::from(geometry.fsize);
        let (end, size) = (start.saturating_add(length), geometry.bytes());
        if end > size {
            return Err(RegionError::Beyond { end, size });
        }
        let bytes = u64::from(geometry.fpg) * fsize;
        let cg = (start / bytes).min(u64::from(geometry.ncg() - 1));
        if end > (cg + 1) * bytes {
            return Err(RegionError::Groups { end, group: (cg + 1) * bytes });
        }
        if inodes > geometry.ipg {
            return Err(RegionError::Inodes { inodes, ipg: geometry.ipg });
        }
        let within = start - cg * bytes..end - cg * bytes;
        let fragments = fragments(geometry, cg as u32, &within);
        let inodes = match inodes {
            0 => inodes_within(geometry, cg as u32, &within),
            _ => inodes_within(geometry, cg as u32, &geometry.first_inodes(inodes)),
        };
        let first = inodes_within(geometry, cg as u32, &geometry.first_inodes(geometry.ipg)).start;
        if geometry.format == Format::Ufs2 && !inodes.is_empty() && inodes.start > first {
            return Err(RegionError::Unmade { inode: inodes.start, first });
        }
        if inodes.is_empty() && fragments.is_empty() {
            return Err(RegionError::Empty(start));
        }
        Ok(Region { cg: cg as u32, inodes, fragments, mode, hot_blocks: HOT_BLOCKS })
    }
}

/// The inodes of a group in a range of its bytes.
fn inodes_within(geometry: &Geometry, cg: u32, within: &Range<u64>) -> Range<u32> {
    let (table, bytes) = (geometry.inode_table(), u64::from(geometry.inode_size()));
    let first = within.start.saturating_sub(table).div_ceil(bytes);
    let end = (within.end.saturating_sub(table) / bytes).min(geometry.ipg.into());
    let base = cg * geometry.ipg;
    let first = (base + first.min(end) as u32).max(ROOT + 1);
    first..(base + end as u32).max(first)
}

/// The fragments of a group in a range of its bytes, without metadata before and behind.
fn fragments(geometry: &Geometry, cg: u32, within: &Range<u64>) -> Range<u32> {
    let (fsize, metadata) = (u64::from(geometry.fsize), geometry.metadata(cg));
    let (mut first, mut end) = (within.start.div_ceil(fsize) as u32, (within.end / fsize) as u32);
    if metadata.contains(&first) {
        first = metadata.end;
    }
    if metadata.contains(&end) {
        end = metadata.start;
    }
    let base = cg * geometry.fpg;
    base + first..base + end.max(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    #[test]
    fn the_region_of_the_thesis_is_mostly_the_inodes_of_the_first_group() {
        let geometry = Geometry::new(231 * 91136, 91136, 22400);
        let region = Region::of(&geometry, 0, 4 * MB, 0, RegionMode::Reserved).unwrap();
        assert_eq!((region.cg, region.inodes, region.fragments), (0, 3..22400, 1426..2048));
        // behind the inodes; before them and of them; within them
        let data = Region::of(&geometry, 4 * MB, MB, 0, RegionMode::Preferred).unwrap();
        assert_eq!((data.inodes.is_empty(), data.fragments), (true, 2048..2560));
        let base = 178 * MB;
        let second = Region::of(&geometry, base, MB, 0, RegionMode::Preferred).unwrap();
        assert_eq!((second.cg, second.inodes), (1, 22400..22400 + (512 - 24) * 16));
        assert_eq!(second.fragments, 91136..91136 + 8);
        let table = Region::of(&geometry, base + MB + 1, 4096, 0, RegionMode::Preferred).unwrap();
        assert_eq!(table.inodes, 22400 + (512 - 24) * 16 + 1..22400 + (514 - 24) * 16);
        assert!(table.fragments.is_empty());
    }

    #[test]
    fn what_has_no_room_or_lies_in_two_groups_is_refused() {
        let geometry = Geometry::new(231 * 91136, 91136, 22400);
        let size = 231 * 178 * MB;
        let of = |start, length| Region::of(&geometry, start, length, 0, RegionMode::Reserved);
        assert_eq!(of(0, 4096), Err(RegionError::Empty(0)));
        assert_eq!(of(10 * MB + 1, 4094), Err(RegionError::Empty(10 * MB + 1)));
        assert_eq!(of(size, 0), Err(RegionError::Empty(size)));
        assert_eq!(of(size - 1, 2), Err(RegionError::Beyond { end: size + 1, size }));
        assert!(matches!(of(u64::MAX, u64::MAX), Err(RegionError::Beyond { .. })));
        let group = 178 * MB;
        let end = group + MB;
        assert_eq!(of(group - MB, 2 * MB), Err(RegionError::Groups { end, group }));
        assert_eq!(of(group - MB, MB).unwrap().fragments, 91136 - 512..91136);
    }

    #[test]
    fn a_region_has_the_first_inodes_of_its_group_and_data_elsewhere_in_it() {
        let geometry = Geometry::freebsd14(40 << 30).unwrap();
        let (group, data) = (u64::from(geometry.fpg) * 4096, u64::from(geometry.dblkno()) * 4096);
        let of = |start, inodes| Region::of(&geometry, start, 4 * MB, inodes, RegionMode::Data);
        let first = of(data + 4096, 16384).unwrap();
        assert_eq!((first.inodes, first.fragments), (3..16384, 5049..5049 + 1024));
        let second = of(group + data, 80128).unwrap();
        assert_eq!((second.cg, second.inodes), (1, 80128..2 * 80128));
        assert_eq!(of(data, 80129), Err(RegionError::Inodes { inodes: 80129, ipg: 80128 }));
        // all inodes and no data; the last ones, which would be initialized before others
        assert!(of(0, 0).unwrap().fragments.is_empty());
        let inode = 80128 - 2048;
        assert_eq!(of(data - MB / 2, 0), Err(RegionError::Unmade { inode, first: 3 }));
    }
}
