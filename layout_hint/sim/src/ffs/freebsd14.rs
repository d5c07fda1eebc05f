//! The preferences of FreeBSD 12.1 to 15: those of 4.8, except for space reserved for directories
//! and indirect blocks at the beginning of each group (`newfs -k`), and the room for a directory.

use super::file::File;
use super::geometry::Geometry;
use super::groups::{next_group, Average, Room};
use super::kernel::Wanted;
use super::volume::Volume;
use super::DIRECT;

/// The requirements of a group for another directory: almost as much room as elsewhere.
pub(super) fn room(geometry: &Geometry, average: &Average) -> Room {
    let most = |free: u32| (free - free / 4).max(1);
    Room {
        inodes: most(average.nifree),
        blocks: most(average.nbfree),
        bytes: u64::from(average.nbfree) * u64::from(geometry.bsize),
    }
}

/// Returns the preferred address of a block: behind the block before. The first block of a section goes to the data part of the file's group,
/// or for a directory to the metadata part; of a long file, to the next group with at least average
/// space. The first block behind the first indirect block follows the latter (`ffs_blkpref_ufs2`).
pub(super) fn block(volume: &Volume, file: &File, wanted: &Wanted) -> Option<u32> {
    let geometry = &volume.geometry;
    let (own, frag) = (geometry.inode_group(wanted.inode), geometry.frag());
    let follows = wanted.lbn == DIRECT || geometry.metaspace == 0;
    if let Some(before) = wanted.before.filter(|_| follows) {
        return Some(before.address + frag);
    }
    let of_data = geometry.data(own)..(own + 1) * geometry.fpg;
    let first = file.indirect(0).filter(|first| wanted.lbn == DIRECT && of_data.contains(first));
    if let Some(first) = first {
        return Some(first + frag);
    }
    match wanted.previous {
        Some(previous) if !wanted.index.is_multiple_of(geometry.maxbpg()) => Some(previous + frag),
        _ if file.directory => Some(geometry.meta(own)),
        _ if wanted.lbn < DIRECT + geometry.nindir() => Some(geometry.data(own)),
        _ => next_group(volume, wanted).map(|cg| geometry.data(cg)),
    }
}

/// After the indirect block that leads to it, if that is new; the first after the last direct
/// block; others in the metadata part of the inode's group.
pub(super) fn indirect(volume: &Volume, file: &File, wanted: &Wanted) -> u32 {
    let (geometry, frag) = (&volume.geometry, volume.geometry.frag());
    if let Some(before) = wanted.before {
        return before.address + frag;
    }
    let last = file.block(DIRECT - 1).filter(|_| wanted.lbn < DIRECT + geometry.nindir());
    let meta = || geometry.meta(geometry.inode_group(wanted.inode));
    last.map_or_else(meta, |last| last + frag)
}
