//! Consistency of a file system, as `fsck` checks it.

use super::filesystem::{FileSystem, ROOT};
use super::group::{Group, Summary};
use super::kernel::Random;
use hashbrown::HashMap;
use thiserror::Error;

/// An inconsistency of a file system.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Inconsistency {
    /// A file, or what is left of one, has a fragment that cannot be its own.
    #[error("inode {inode} has fragment {address}, which is no place for data or has an owner")]
    Owned {
        /// The file's inode.
        inode: u32,
        /// The fragment.
        address: u32,
    },
    /// A fragment that is free and owned, or neither.
    #[error("fragment {0} is free and has an owner, or is neither")]
    Fragment(u32),
    /// The same of an inode.
    #[error("inode {0} is free and in use, or is neither")]
    Inode(u32),
    /// A group's counts, or what its searches use, are not a recount.
    #[error("the books of group {0} are not what a recount gives")]
    Group(u32),
    /// The counts of all groups together are not their sum.
    #[error("the totals are not the sum of the groups")]
    Total,
}

impl<R: Random> FileSystem<R> {
    /// Returns the first inconsistency: every fragment and every inode must be free or have one
    /// owner, and all counts must match a recount.
    pub fn check(&self) -> Result<(), Inconsistency> {
        let geometry = &self.volume.geometry;
        let mut owned = vec![false; geometry.ncg() as usize * geometry.fpg as usize];
        for cg in 0..geometry.ncg() {
            let base = (cg * geometry.fpg) as usize;
            let beyond = geometry.fragments(cg)..geometry.fpg;
            geometry.metadata(cg).chain(beyond).for_each(|at| owned[base + at as usize] = true);
        }
        for (inode, file) in self.files() {
            let whole = file.indirect_blocks().map(|address| (address, geometry.frag()));
            let blocks = file
                .blocks()
                .filter_map(|lbn| Some((file.block(lbn)?, file.fragments(lbn, geometry))));
            for address in whole.chain(blocks).flat_map(|(address, n)| address..address + n) {
                own(&mut owned, inode, address)?;
            }
        }
        for remains in self.detached.iter().map(|(_, remains)| remains) {
            let inode = remains.inode.map_or(0, |(inode, _)| inode);
            let fragments = remains.fragments.iter();
            for address in fragments.flat_map(|&(address, n)| address..address + n) {
                own(&mut owned, inode, address)?;
            }
        }
        let detached = self.detached.iter().filter_map(|(_, remains)| remains.inode).collect();
        self.check_groups(&owned, &detached)
    }

    fn check_groups(
        &self,
        owned: &[bool],
        detached: &HashMap<u32, bool>,
    ) -> Result<(), Inconsistency> {
        let geometry = &self.volume.geometry;
        for (cg, owned) in (0..).zip(owned.chunks_exact(geometry.fpg as usize)) {
            let group = &self.volume.groups[cg as usize];
            for (at, owned) in (0..).zip(owned) {
                let free = group.block(at / geometry.frag()) >> (at % geometry.frag()) & 1 != 0;
                if free == *owned {
                    return Err(Inconsistency::Fragment(cg * geometry.fpg + at));
                }
            }
            if *group != self.recount(cg, detached)? {
                return Err(Inconsistency::Group(cg));
            }
        }
        let groups = self.volume.groups.iter();
        let sum = groups.fold(Summary::default(), |sum, group| sum + group.summary);
        (sum == self.volume.total).then_some(()).ok_or(Inconsistency::Total)
    }

    /// The group reconstructed from its fragments, from the files and from detached inodes.
    fn recount(&self, cg: u32, detached: &HashMap<u32, bool>) -> Result<Group, Inconsistency> {
        let geometry = &self.volume.geometry;
        let group = &self.volume.groups[cg as usize];
        let mut fresh = Group::new(geometry, cg);
        (0..geometry.fpg / geometry.frag()).for_each(|block| fresh.set(block, group.block(block)));
        for at in 0..geometry.ipg {
            let inode = cg * geometry.ipg + at;
            let gone = detached.get(&inode);
            let free = inode >= ROOT && self.file(inode).is_none() && gone.is_none();
            if free != group.is_free(at) {
                return Err(Inconsistency::Inode(inode));
            }
            fresh.set_inode(at, free);
            fresh.summary.nifree -= u32::from(!free);
            let directory = self.file(inode).map_or(gone == Some(&true), |file| file.directory);
            fresh.summary.ndir += u32::from(directory);
        }
        (fresh.rotor, fresh.frotor, fresh.irotor) = (group.rotor, group.frotor, group.irotor);
        fresh.made = group.made;
        Ok(fresh)
    }
}

/// Records a fragment's owner.
fn own(owned: &mut [bool], inode: u32, address: u32) -> Result<(), Inconsistency> {
    match owned.get_mut(address as usize) {
        Some(owned) if !*owned => {
            *owned = true;
            Ok(())
        }
        _ => Err(Inconsistency::Owned { inode, address }),
    }
}
