//! Which cylinder group: for a new directory, and for the next blocks of a long file.

use super::volume::Volume;

/// What a group has on average, rounded down.
pub(super) struct Average {
    pub ndir: u32,
    pub nifree: u32,
    pub nbfree: u32,
}

/// What a group must have for another directory.
pub(super) struct Limits {
    /// Fewer directories than this.
    pub maxndir: u32,
    /// At least so many free inodes.
    pub minifree: u32,
    /// At least so many free blocks.
    pub minbfree: u32,
    /// Fewer directories in a row than this.
    pub maxcontigdirs: u64,
}

impl Average {
    pub fn of(volume: &Volume) -> Average {
        let (total, ncg) = (volume.total, volume.geometry.ncg());
        Average { ndir: total.ndir / ncg, nifree: total.nifree / ncg, nbfree: total.nbfree / ncg }
    }

    /// How many directories fit into so many bytes, with as many and as large files as others have
    /// or are expected to have; as many as may be made in a row.
    pub fn directories(&self, volume: &Volume, bytes: u64) -> u64 {
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

/// The group with the fewest directories, of those with no less free inodes and blocks than the
/// average; the first one from `start` on.
pub(super) fn spread(volume: &Volume, start: u32) -> u32 {
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

/// The first group from `start` on that is within the limits; else the first with no less free
/// inodes than the average.
pub(super) fn beside(volume: &Volume, start: u32, average: &Average, limits: &Limits) -> u32 {
    let fits = |&cg: &u32| {
        let group = &volume.groups[cg as usize].summary;
        group.ndir < limits.maxndir
            && volume.nifree(cg) >= limits.minifree
            && group.nbfree >= limits.minbfree
            && u64::from(volume.contigdirs[cg as usize]) < limits.maxcontigdirs
    };
    let backstop = |&cg: &u32| volume.nifree(cg) >= average.nifree;
    let found = around(volume, start).find(fits);
    found.or_else(|| around(volume, start).find(backstop)).unwrap_or(start)
}

/// The first group from `start` on that has no less free blocks than the average.
pub(super) fn roomy(volume: &Volume, start: u32) -> Option<u32> {
    let average = volume.total.nbfree / volume.geometry.ncg();
    let enough = |&cg: &u32| volume.groups[cg as usize].summary.nbfree >= average;
    around(volume, start % volume.geometry.ncg()).find(enough)
}

/// All groups, from `start` on.
fn around(volume: &Volume, start: u32) -> impl Iterator<Item = u32> {
    let ncg = volume.geometry.ncg();
    (start..ncg).chain(0..start)
}
