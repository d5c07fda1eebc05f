//! The preferences of FreeBSD 12.1 to 14.

use super::file::File;
use super::groups::{beside, roomy, spread, Average, Limits};
use super::policy::{Policy, Random, Rules, Wanted};
use super::volume::Volume;
use super::DIRECT;

/// The preferences of FreeBSD 12.1 to 14: those of 4.8, but for space that is kept for directories
/// and indirect blocks at the beginning of each group (`newfs -k`), and how much room a directory
/// is to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeBsd14;

impl Policy for FreeBsd14 {
    fn rules(&self) -> Rules {
        Rules::FreeBsd14
    }

    /// `ffs_dirpref`: in the root, a group with few directories; else near the parent, where there
    /// is almost as much room as elsewhere, and not many directories in a row.
    fn directory(&self, volume: &Volume, parent: u32, root: bool, random: &mut dyn Random) -> u32 {
        let geometry = &volume.geometry;
        if root {
            return spread(volume, random.next_u32() % geometry.ncg()) * geometry.ipg;
        }
        let average = Average::of(volume);
        let bytes = u64::from(average.nbfree) * u64::from(geometry.bsize);
        let most = |free: u32| (free - free / 4).max(1);
        let limits = Limits {
            maxndir: (average.ndir + geometry.ipg / 16).min(geometry.ipg),
            minifree: most(average.nifree),
            minbfree: most(average.nbfree),
            maxcontigdirs: average.directories(volume, bytes),
        };
        beside(volume, geometry.inode_group(parent), &average, &limits) * geometry.ipg
    }

    /// `ffs_blkpref_ufs2`: after the block before; the first of a section in the part of the file's
    /// group that is for data, or a directory's in that for metadata; where the file is long, in
    /// the next group that has not less space than others. The first block behind the first
    /// indirect one follows that.
    fn block(&self, volume: &Volume, file: &File, wanted: &Wanted) -> Option<u32> {
        let geometry = &volume.geometry;
        let (own, frag) = (geometry.inode_group(wanted.inode), geometry.frag());
        let follows = wanted.lbn == DIRECT || geometry.metaspace == 0;
        if let Some(before) = wanted.before.filter(|_| follows) {
            return Some(before.address + frag);
        }
        let of_data = geometry.data(own)..(own + 1) * geometry.fpg;
        let first =
            file.indirect(0).filter(|first| wanted.lbn == DIRECT && of_data.contains(first));
        if let Some(first) = first {
            return Some(first + frag);
        }
        match wanted.previous {
            Some(previous) if !wanted.index.is_multiple_of(geometry.maxbpg()) => {
                Some(previous + frag)
            }
            _ if file.directory => Some(geometry.meta(own)),
            _ if wanted.lbn < DIRECT + geometry.nindir() => Some(geometry.data(own)),
            previous => {
                let after = previous.filter(|_| wanted.index != 0);
                let guess = own + wanted.lbn / geometry.maxbpg();
                let first = after.map_or(guess, |previous| geometry.group(previous) + 1);
                roomy(volume, first).map(|cg| geometry.data(cg))
            }
        }
    }

    /// After the one that leads to it, if that was made just now; the first after the last direct
    /// block; others in the part of the inode's group that is for metadata.
    fn indirect(&self, volume: &Volume, file: &File, wanted: &Wanted) -> Option<u32> {
        let (geometry, frag) = (&volume.geometry, volume.geometry.frag());
        if let Some(before) = wanted.before {
            return Some(before.address + frag);
        }
        let last = file.block(DIRECT - 1).filter(|_| wanted.lbn < DIRECT + geometry.nindir());
        let meta = || geometry.meta(geometry.inode_group(wanted.inode));
        Some(last.map_or_else(meta, |last| last + frag))
    }
}
