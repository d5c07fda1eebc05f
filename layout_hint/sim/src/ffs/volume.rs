//! The cylinder groups of a file system, and their totals.

use super::allocators::Allocator;
use super::changes::{Change, Changes};
use super::geometry::Geometry;
use super::group::{Group, Summary};
use super::kernel::Kernel;
use super::region::Region;

/// Space for fragments that grow and must move (`fs_optim`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimization {
    /// A whole block, whose rest is freed at once: they will not move again.
    Time,
    /// No more than they ask for.
    Space,
}

/// The superblock and the cylinder groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// The sizes.
    pub geometry: Geometry,
    /// The kernel.
    pub kernel: Kernel,
    /// The allocator in the kernel's place.
    pub allocator: Option<&'static dyn Allocator>,
    /// The cylinder groups.
    pub groups: Vec<Group>,
    /// Their counts together.
    pub total: Summary,
    /// Directories made in each group one after the other, with no files between them; up to 255.
    pub contigdirs: Vec<u8>,
    /// Changes with the fragmentation of the free space.
    pub optimization: Optimization,
    /// Whether the reserve of `minfree` percent may be used, as by the superuser.
    pub superuser: bool,
    /// The place of hot files and directories.
    pub region: Option<Region>,
    pub(super) changes: Changes,
    dsize: u32,
}

impl Volume {
    /// A volume without files, not even a root directory. The sizes must have been checked.
    pub fn new(geometry: Geometry, kernel: Kernel) -> Volume {
        let groups: Vec<_> = (0..geometry.ncg()).map(|cg| Group::new(&geometry, cg)).collect();
        let total = groups.iter().fold(Summary::default(), |total, group| total + group.summary);
        Volume {
            geometry,
            kernel,
            allocator: None,
            total,
            contigdirs: vec![0; groups.len()],
            groups,
            optimization: Optimization::Time,
            superuser: false,
            region: None,
            changes: Changes::default(),
            dsize: geometry.dsize(),
        }
    }

    /// A share of the fragments for data, rounded towards zero as C does.
    #[inline]
    pub(super) fn share(&self, numerator: i64, denominator: i64) -> i64 {
        i64::from(self.dsize) * numerator / denominator
    }

    /// Whether fragments may be given without touching the reserve.
    #[inline]
    pub(super) fn may_give(&self, fragments: u32) -> bool {
        self.superuser || self.free_beside(self.geometry.minfree.into()) >= i64::from(fragments)
    }

    /// Whether a percentage of the fragments is free.
    #[inline]
    pub(super) fn spares(&self, percent: i64) -> bool {
        self.free_beside(percent) >= 0
    }

    /// Free fragments beyond a reserve in percent (`freespace`).
    #[inline]
    fn free_beside(&self, percent: i64) -> i64 {
        let free = i64::from(self.total.nbfree * self.geometry.frag() + self.total.nffree);
        free - self.share(percent, 100)
    }

    /// Sets the free fragments of a group's block, and updates all counts.
    #[inline]
    pub(super) fn set(&mut self, cg: u32, block: u32, free: u8) {
        let group = &mut self.groups[cg as usize];
        let before = group.summary;
        group.set(block, free);
        let after = group.summary;
        self.total.nbfree = self.total.nbfree + after.nbfree - before.nbfree;
        self.total.nffree = self.total.nffree + after.nffree - before.nffree;
        self.changes.push(Change::Group(cg));
    }

    /// Tries the preferred group with the preference, then others without: at growing distance,
    /// then one after the other (`ffs_hashalloc`).
    pub(super) fn rehash<T>(
        &mut self,
        preferred: u32,
        preference: Option<u32>,
        mut ask: impl FnMut(&mut Volume, u32, Option<u32>) -> Option<T>,
    ) -> Option<T> {
        if let Some(found) = ask(self, preferred, preference) {
            return Some(found);
        }
        let ncg = self.geometry.ncg();
        let (mut cg, mut step) = (preferred, 1);
        while step < ncg {
            cg = (cg + step) % ncg;
            if let Some(found) = ask(self, cg, None) {
                return Some(found);
            }
            step *= 2;
        }
        // the first two have been tried
        (2..ncg).find_map(|distance| ask(self, (preferred + distance) % ncg, None))
    }
}

impl std::ops::Add for Summary {
    type Output = Summary;

    fn add(self, other: Summary) -> Summary {
        Summary {
            ndir: self.ndir + other.ndir,
            nbfree: self.nbfree + other.nbfree,
            nifree: self.nifree + other.nifree,
            nffree: self.nffree + other.nffree,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_asked_at_growing_distance_then_in_order() {
        let mut volume = Volume::new(Geometry::new(9 * 512, 512, 128), Kernel::FreeBsd48);
        let mut asked = Vec::new();
        let none = volume.rehash(5, Some(7), |_, cg, preference| {
            asked.push((cg, preference));
            None::<()>
        });
        assert_eq!((none, asked[0]), (None, (5, Some(7))));
        let groups: Vec<_> = asked[1..].iter().map(|&(cg, _)| cg).collect();
        assert_eq!(groups, [6, 8, 3, 2, 7, 8, 0, 1, 2, 3, 4]);
        assert!(asked[1..].iter().all(|(_, preference)| preference.is_none()));
    }
}
