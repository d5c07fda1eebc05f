//! Where a new directory and a file's next block should be.

use super::volume::Volume;
use super::DIRECT;

/// Random numbers, as a kernel's `arc4random`.
pub trait Random {
    /// The next one.
    fn next_u32(&mut self) -> u32;
}

/// A block that a file needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The file's inode.
    pub inode: u32,
    /// The number in the file of the block, or of the one that an indirect block is needed for.
    pub lbn: u32,
    /// Which of the pointers beside each other it will have; an indirect block: 0.
    pub index: u32,
    /// Where the block is that the pointer before leads to, if there is one.
    pub previous: Option<u32>,
}

/// Preferences, which the volume follows as far as it can.
pub trait Policy {
    /// The inode for a directory that is made in another.
    fn directory(&self, volume: &Volume, parent: u32, root: bool, random: &mut dyn Random) -> u32;

    /// The address for a block.
    fn block(&self, volume: &Volume, wanted: &Wanted) -> Option<u32>;
}

/// The preferences of FreeBSD 4.8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FreeBsd48;

impl Policy for FreeBsd48 {
    /// `ffs_dirpref`: in the root, a group with few directories; else near the parent.
    fn directory(&self, volume: &Volume, parent: u32, root: bool, random: &mut dyn Random) -> u32 {
        let ncg = volume.geometry.ncg();
        let cg = match root {
            true => spread(volume, random.next_u32() % ncg),
            false => beside(volume, volume.geometry.inode_group(parent)),
        };
        cg * volume.geometry.ipg
    }

    /// `ffs_blkpref`: after the block before; the first of a section in the file's group, and where
    /// the file is long, in the next group that has not less space than others.
    fn block(&self, volume: &Volume, wanted: &Wanted) -> Option<u32> {
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
                let average = volume.total.nbfree / geometry.ncg();
                let enough = |&cg: &u32| volume.groups[cg as usize].summary.nbfree >= average;
                around(volume, first % geometry.ncg()).find(enough).map(start)
            }
        }
    }
}

/// The group with the fewest directories, of those with no less free inodes and blocks than the
/// average; the first one from `start` on.
fn spread(volume: &Volume, start: u32) -> u32 {
    let average = Average::of(volume);
    let (mut best, mut fewest) = (start, volume.geometry.ipg);
    for cg in around(volume, start) {
        let group = &volume.groups[cg as usize].summary;
        let room = volume.nifree(cg) >= average.nifree && group.nbfree >= average.nbfree;
        if room && group.ndir < fewest {
            (best, fewest) = (cg, group.ndir);
        }
    }
    best
}

/// The first group from the parent's on that has room for a directory's files, too, and has not
/// been given as many directories in a row as it can feed; else the first with free inodes.
fn beside(volume: &Volume, parent: u32) -> u32 {
    let geometry = &volume.geometry;
    let average = Average::of(volume);
    let maxndir = (average.ndir + geometry.ipg / 16).min(geometry.ipg);
    let minifree = average.nifree.saturating_sub(geometry.ipg / 4);
    let minbfree = average.nbfree.saturating_sub(geometry.fpg / geometry.frag() / 4);
    let maxcontigdirs = average.maxcontigdirs(volume);
    let fits = |&cg: &u32| {
        let group = &volume.groups[cg as usize].summary;
        group.ndir < maxndir
            && volume.nifree(cg) >= minifree
            && group.nbfree >= minbfree
            && u64::from(volume.contigdirs[cg as usize]) < maxcontigdirs
    };
    let backstop = |&cg: &u32| volume.nifree(cg) >= average.nifree;
    let found = around(volume, parent).find(fits);
    found.or_else(|| around(volume, parent).find(backstop)).unwrap_or(parent)
}

/// All groups, from `start` on.
fn around(volume: &Volume, start: u32) -> impl Iterator<Item = u32> {
    let ncg = volume.geometry.ncg();
    (start..ncg).chain(0..start)
}

/// What a group has on average, rounded down.
struct Average {
    ndir: u32,
    nifree: u32,
    nbfree: u32,
}

impl Average {
    fn of(volume: &Volume) -> Average {
        let (total, ncg) = (volume.total, volume.geometry.ncg());
        Average { ndir: total.ndir / ncg, nifree: total.nifree / ncg, nbfree: total.nbfree / ncg }
    }

    /// How many directories a group may be given in a row, so that there is room for their files.
    fn maxcontigdirs(&self, volume: &Volume) -> u64 {
        let geometry = &volume.geometry;
        let (bsize, avgfpdir) = (u64::from(geometry.bsize), u64::from(geometry.avgfpdir));
        let cgsize = u64::from(geometry.fsize) * u64::from(geometry.fpg);
        let used = cgsize.saturating_sub(u64::from(self.nbfree) * bsize);
        let expected = u64::from(geometry.avgfilesize) * avgfpdir;
        let dirsize = expected.max(used.checked_div(self.ndir.into()).unwrap_or(0));
        let fit = cgsize.checked_div(dirsize).unwrap_or(255).min(255);
        let files = u64::from(geometry.ipg).checked_div(avgfpdir).unwrap_or(255);
        fit.min(files).max(1)
    }
}
