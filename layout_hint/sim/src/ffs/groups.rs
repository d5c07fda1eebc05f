//! Selection of a cylinder group: for a new directory, and for the next blocks of a long file.

use super::file::Within;
use super::kernel::{Kernel, Random, Wanted};
use super::volume::Volume;
use super::{freebsd14, freebsd15, freebsd48, ROOT};

/// Averages of a group, rounded down.
pub(super) struct Average {
    pub ndir: u32,
    pub nifree: u32,
    pub nbfree: u32,
}

/// Requirements of a group for another directory.
pub(super) struct Room {
    /// Fewest free inodes.
    pub inodes: u32,
    /// Fewest free blocks.
    pub blocks: u32,
    /// Bytes that bound the directories made in a row.
    pub bytes: u64,
}

impl Average {
    fn of(volume: &Volume) -> Average {
        let (total, ncg) = (volume.total, volume.geometry.ncg());
        Average { ndir: total.ndir / ncg, nifree: total.nifree / ncg, nbfree: total.nbfree / ncg }
    }

    /// The number of directories that fit into `bytes`, with actual or expected numbers and sizes
    /// of files.
    fn directories(&self, volume: &Volume, bytes: u64) -> u64 {
        let geometry = &volume.geometry;
        let (bsize, avgfpdir) = (u64::from(geometry.bsize), u64::from(geometry.avgfpdir));
        let cgsize = u64::from(geometry.fsize) * u64::from(geometry.fpg);
        let used = cgsize.saturating_sub(u64::from(self.nbfree) * bsize);
        let expected = u64::from(geometry.avgfilesize) * avgfpdir;
        let dirsize = expected.max(used.checked_div(self.ndir.into()).unwrap_or(0));
        let fit = bytes.checked_div(dirsize).unwrap_or(255).min(255);
        let files = u64::from(geometry.ipg).checked_div(avgfpdir).unwrap_or(255);
        fit.min(files).max(1)
    }
}

impl Volume {
    /// The group for a directory made in another (`ffs_dirpref`). Until FreeBSD 14, one in the root
    /// goes to a group with few directories. Others go near the parent's, or since then by depth,
    /// to a group with room, and not many directories in a row.
    pub(super) fn prefer_group(
        &self,
        parent: u32,
        within: Option<&Within>,
        random: &mut impl Random,
    ) -> u32 {
        let (geometry, average) = (&self.geometry, Average::of(self));
        let own = geometry.inode_group(parent);
        let room = match self.kernel {
            Kernel::FreeBsd48 => freebsd48::room(geometry, &average),
            Kernel::FreeBsd14 | Kernel::FreeBsd15 => freebsd14::room(geometry, &average),
        };
        let (start, more) = match (self.kernel, within) {
            (Kernel::FreeBsd15, Some(within)) => freebsd15::start(geometry.ncg(), own, within),
            _ if parent == ROOT => {
                return self.spread(random.next_u32() % geometry.ncg(), &average);
            }
            _ => (own, geometry.ipg / 16),
        };
        let most = average.ndir.saturating_add(more).min(geometry.ipg);
        let in_a_row = average.directories(self, room.bytes);
        let fits = |&cg: &u32| {
            let group = &self.groups[cg as usize].summary;
            group.ndir < most
                && self.nifree(cg) >= room.inodes
                && group.nbfree >= room.blocks
                && u64::from(self.contigdirs[cg as usize]) < in_a_row
        };
        let backstop = |&cg: &u32| self.nifree(cg) >= average.nifree;
        let found = self.around(start).find(fits);
        found.or_else(|| self.around(start).find(backstop)).unwrap_or(start)
    }

    /// The group with the fewest directories, among those with at least average free inodes and
    /// blocks; the first one from `start` on.
    fn spread(&self, start: u32, average: &Average) -> u32 {
        let (mut best, mut fewest) = (start, self.geometry.ipg);
        for cg in self.around(start) {
            let group = &self.groups[cg as usize].summary;
            let room = self.nifree(cg) >= average.nifree && group.nbfree >= average.nbfree;
            if room && group.ndir < fewest {
                (best, fewest) = (cg, group.ndir);
            }
        }
        best
    }

    /// All groups, from `start` on.
    fn around(&self, start: u32) -> impl Iterator<Item = u32> {
        let ncg = self.geometry.ncg();
        (start..ncg).chain(0..start)
    }
}

/// The group for the next section of a long file: the first with at least average free blocks, from
/// the next group on, or from as many groups on as the file has sections.
pub(super) fn next_group(volume: &Volume, wanted: &Wanted) -> Option<u32> {
    let geometry = &volume.geometry;
    let after = wanted.previous.filter(|_| wanted.index != 0);
    let guess = geometry.inode_group(wanted.inode) + wanted.lbn / geometry.maxbpg();
    let first = after.map_or(guess, |previous| geometry.group(previous) + 1);
    let average = Average::of(volume).nbfree;
    let enough = |&cg: &u32| volume.groups[cg as usize].summary.nbfree >= average;
    volume.around(first % geometry.ncg()).find(enough)
}
