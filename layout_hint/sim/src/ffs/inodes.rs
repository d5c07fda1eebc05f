//! Inodes: taken near a preference, and given back.

use super::changes::Change;
use super::kernel::Kernel;
use super::volume::Volume;
use super::Error;
use std::ops::Range;

impl Volume {
    /// Takes an inode, the preferred one if it is free, else in its group, else in another
    /// (`ffs_valloc` after `ffs_dirpref`); reserved ones last.
    pub fn alloc_inode(&mut self, preference: u32, directory: bool) -> Result<u32, Error> {
        if self.total.nifree == 0 {
            return Err(Error::NoInodes);
        }
        let cg = self.geometry.inode_group(preference);
        let contigdirs = &mut self.contigdirs[cg as usize];
        *contigdirs = match directory {
            true => contigdirs.saturating_add(1),
            false => contigdirs.saturating_sub(1),
        };
        // as in the kernel, 0 is no preference
        let preference = Some(preference).filter(|&inode| inode != 0);
        if self.reserves() {
            let outside = self.rehash(cg, preference, |volume, cg, preference| {
                volume.alloc_inode_in_group(cg, preference, directory, volume.reserved_inodes(cg))
            });
            if let Some(inode) = outside {
                return Ok(inode);
            }
        }
        let take = |volume: &mut Volume, cg, preference| {
            volume.alloc_inode_in_group(cg, preference, directory, 0..0)
        };
        self.rehash(cg, preference, take).ok_or(Error::NoInodes)
    }

    /// Takes an inode in a group: the preferred one, else the first free one from the rotor's byte
    /// of the map on (`ffs_nodealloccg`).
    fn alloc_inode_in_group(
        &mut self,
        cg: u32,
        preference: Option<u32>,
        directory: bool,
        skip: Range<u32>,
    ) -> Option<u32> {
        let ipg = self.geometry.ipg;
        let group = &mut self.groups[cg as usize];
        let preferred = preference.map(|inode| inode % ipg);
        let preferred = preferred.filter(|at| group.is_free(*at) && !skip.contains(at));
        let at = match preferred {
            Some(at) => at,
            None => {
                group.irotor = group.next_inode(&skip)?;
                group.irotor
            }
        };
        if self.kernel != Kernel::FreeBsd48 {
            group.irotor = at;
        }
        self.set_inode(cg, at, directory, false);
        Some(cg * ipg + at)
    }

    /// Returns an inode, which is the next one to be taken if none before it is free
    /// (`ffs_freefile`).
    pub fn release_inode(&mut self, inode: u32, directory: bool) {
        let (cg, at) = (self.geometry.inode_group(inode), inode % self.geometry.ipg);
        let group = &mut self.groups[cg as usize];
        group.irotor = group.irotor.min(at);
        self.set_inode(cg, at, directory, true);
    }

    /// Initializes inodes up to a block beyond a taken one, as `ffs_nodealloccg` does with UFS2.
    fn make_inodes(&mut self, cg: u32, at: u32) {
        let per_block = self.geometry.inodes_per_block();
        let group = &mut self.groups[cg as usize];
        while group.made < self.geometry.ipg && at + per_block > group.made {
            self.changes.push(Change::Made(cg * self.geometry.ipg + group.made));
            group.made += per_block;
        }
    }

    /// Sets whether an inode, a directory's or another's, is free; updates all counts.
    pub(super) fn set_inode(&mut self, cg: u32, at: u32, directory: bool, free: bool) {
        if !free {
            self.make_inodes(cg, at);
        }
        let group = &mut self.groups[cg as usize];
        group.set_inode(at, free);
        for summary in [&mut group.summary, &mut self.total] {
            if free {
                summary.nifree += 1;
                summary.ndir -= u32::from(directory);
            } else {
                summary.nifree -= 1;
                summary.ndir += u32::from(directory);
            }
        }
        self.changes.push(Change::Group(cg));
        self.changes.push(Change::Inode(cg * self.geometry.ipg + at));
    }
}
