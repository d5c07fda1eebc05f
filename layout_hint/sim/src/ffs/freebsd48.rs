//! The preferences of FreeBSD 4.8.

use super::geometry::Geometry;
use super::groups::{next_group, Average, Room};
use super::kernel::Wanted;
use super::volume::Volume;
use super::DIRECT;

/// The requirements of a group for another directory: room for that directory's files, too.
pub(super) fn room(geometry: &Geometry, average: &Average) -> Room {
    Room {
        inodes: average.nifree.saturating_sub(geometry.ipg / 4),
        blocks: average.nbfree.saturating_sub(geometry.fpg / geometry.frag() / 4),
        bytes: u64::from(geometry.fsize) * u64::from(geometry.fpg),
    }
}

/// After the block before. The first block of a section goes to the file's group; of a long file,
/// to the next group with at least average space (`ffs_blkpref`).
pub(super) fn block(volume: &Volume, wanted: &Wanted) -> Option<u32> {
    let geometry = &volume.geometry;
    let cg = match wanted.previous {
        Some(previous) if !wanted.index.is_multiple_of(geometry.maxbpg()) => {
            return Some(previous + geometry.frag());
        }
        _ if wanted.lbn < DIRECT + geometry.nindir() => geometry.inode_group(wanted.inode),
        _ => next_group(volume, wanted)?,
    };
    Some(geometry.fpg * cg + geometry.frag())
}

/// As the first block of a section; all indirect blocks for one block at the same place.
pub(super) fn indirect(volume: &Volume, wanted: &Wanted) -> Option<u32> {
    let same = wanted.before.and_then(|before| before.preference);
    same.or_else(|| block(volume, wanted))
}
