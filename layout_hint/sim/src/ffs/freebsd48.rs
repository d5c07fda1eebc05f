//! The preferences of FreeBSD 4.8.

use super::file::File;
use super::groups::{beside, roomy, spread, Average, Limits};
use super::policy::{Policy, Random, Rules, Wanted};
use super::volume::Volume;
use super::DIRECT;

/// The preferences of FreeBSD 4.8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeBsd48;

impl Policy for FreeBsd48 {
    fn rules(&self) -> Rules {
        Rules::FreeBsd48
    }

    /// `ffs_dirpref`: in the root, a group with few directories; else near the parent, where there
    /// is room for a directory's files, too, and not many directories in a row.
    fn directory(&self, volume: &Volume, parent: u32, root: bool, random: &mut dyn Random) -> u32 {
        let geometry = &volume.geometry;
        if root {
            return spread(volume, random.next_u32() % geometry.ncg()) * geometry.ipg;
        }
        let average = Average::of(volume);
        let bytes = u64::from(geometry.fsize) * u64::from(geometry.fpg);
        let limits = Limits {
            maxndir: (average.ndir + geometry.ipg / 16).min(geometry.ipg),
            minifree: average.nifree.saturating_sub(geometry.ipg / 4),
            minbfree: average.nbfree.saturating_sub(geometry.fpg / geometry.frag() / 4),
            maxcontigdirs: average.directories(volume, bytes),
        };
        beside(volume, geometry.inode_group(parent), &average, &limits) * geometry.ipg
    }

    /// `ffs_blkpref`: after the block before; the first of a section in the file's group, and where
    /// the file is long, in the next group that has not less space than others.
    fn block(&self, volume: &Volume, _file: &File, wanted: &Wanted) -> Option<u32> {
        let geometry = &volume.geometry;
        let start = |cg: u32| geometry.fpg * cg + geometry.frag();
        let own = geometry.inode_group(wanted.inode);
        match wanted.previous {
            Some(previous) if !wanted.index.is_multiple_of(geometry.maxbpg()) => {
                Some(previous + geometry.frag())
            }
            _ if wanted.lbn < DIRECT + geometry.nindir() => Some(start(own)),
            previous => {
                let after = previous.filter(|_| wanted.index != 0);
                let guess = own + wanted.lbn / geometry.maxbpg();
                let first = after.map_or(guess, |previous| geometry.group(previous) + 1);
                roomy(volume, first).map(start)
            }
        }
    }

    /// As the first block of a section; all that one block needs at the same place.
    fn indirect(&self, volume: &Volume, file: &File, wanted: &Wanted) -> Option<u32> {
        let same = wanted.before.and_then(|before| before.preference);
        same.or_else(|| self.block(volume, file, wanted))
    }
}
