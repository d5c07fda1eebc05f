//! Blocks of a file moved together (`ffs_reallocblks`).

use super::changes::Change;
use super::file::{File, DIRECT};
use super::filesystem::FileSystem;
use super::kernel::{Kernel, Random, Wanted};
use super::level::Level;
use super::region::Region;
use super::volume::Volume;

/// Number of groups that FreeBSD 14 searches (`vfs.ffs.maxclustersearch`).
const SEARCHED: u32 = 10;
/// Percent of free space below which FreeBSD 14 moves nothing.
const SPARE: i64 = 4;

impl<R: Random> FileSystem<R> {
    /// Moves `blocks` written blocks of a file from `lbn` on, which are not on disk, to contiguous
    /// space. Returns whether they were moved: not if they are contiguous already, which the kernel
    /// checks first; not if they belong in the region.
    pub fn reallocate(&mut self, inode: u32, lbn: u32, blocks: u32) -> bool {
        let Some(file) = self.files.get(&inode) else { return false };
        if !self.volume.may_move(file, lbn, blocks) {
            return false;
        }
        let Some(address) = self.find_cluster(inode, lbn, blocks) else { return false };
        let geometry = self.volume.geometry;
        let frag = geometry.frag();
        let Some(file) = self.files.get_mut(&inode) else { return false };
        for (block, address) in (lbn..lbn + blocks).zip((address..).step_by(frag as usize)) {
            if let Some(old) = file.block(block) {
                self.volume.free(old, frag);
            }
            file.set_block(block, address);
            let placed = Change::Placed { inode, lbn: block, address, fragments: frag };
            self.volume.changes.push(placed);
            let slot = geometry.slots(block).last();
            let pointer = match slot.and_then(|slot| file.indirect(slot)) {
                Some(address) => Change::Indirect { inode, address },
                None => Change::Inode(inode),
            };
            self.volume.changes.push(pointer);
        }
        true
    }

    /// Takes contiguous blocks, near the preferred position of the first.
    fn find_cluster(&mut self, inode: u32, lbn: u32, blocks: u32) -> Option<u32> {
        let file = self.files.get_mut(&inode)?;
        let geometry = self.volume.geometry;
        let (_, index) = Level::of(lbn, geometry.nindir())?;
        let previous = (index > 0).then(|| file.block(lbn - 1)).flatten();
        let wanted = Wanted { inode, lbn, index, previous, before: None };
        let preference = match file.next_cluster {
            Some(cg) => Some(geometry.data(cg)),
            None => self.volume.prefer_block(file, &wanted),
        };
        // without one the kernel uses address 0, and so begins in the first group
        let preference = preference.filter(|&address| address < geometry.size).unwrap_or(0);
        let (cg, preference) = (geometry.group(preference), Some(preference));
        if self.volume.kernel == Kernel::FreeBsd48 {
            return self.volume.rehash(cg, preference, |volume, cg, preference| {
                volume.alloc_cluster(cg, preference, blocks)
            });
        }
        let searched = SEARCHED.min(geometry.ncg());
        let mut groups = (0..searched).map(|step| (cg + step) % geometry.ncg());
        let found = groups.find_map(|cg| self.volume.alloc_cluster(cg, preference, blocks));
        file.next_cluster = found.is_none().then_some((cg + searched) % geometry.ncg());
        found
    }
}

impl Volume {
    /// Whether blocks of a file are whole, in one group and not contiguous, and may be moved.
    fn may_move(&self, file: &File, lbn: u32, blocks: u32) -> bool {
        let (geometry, frag) = (&self.geometry, self.geometry.frag());
        let Some(end) = lbn.checked_add(blocks) else { return false };
        let whole = |lbn| file.fragments(lbn, geometry) == frag;
        let address = |lbn| file.block(lbn).filter(|_| whole(lbn));
        let (Some(first), Some(last)) = (address(lbn), end.checked_sub(1).and_then(address)) else {
            return false;
        };
        // blocks in the region stay there; hot blocks outside of it are like others
        let within = |region: &Region| {
            let inside = |lbn| address(lbn).is_some_and(|at| region.fragments.contains(&at));
            file.hot && (lbn..end).any(inside)
        };
        let hot = self.region.as_ref().is_some_and(within);
        let row = (lbn..end).zip((first..).step_by(frag as usize));
        !hot && (2..=geometry.contigsumsize).contains(&blocks)
            && geometry.group(first) == geometry.group(last)
            && (self.kernel == Kernel::FreeBsd48
                || self.spares(SPARE) && !(lbn < DIRECT && end > DIRECT))
            && (lbn..end).all(|lbn| address(lbn).is_some())
            && !row.clone().all(|(lbn, at)| file.block(lbn) == Some(at))
    }

    /// Takes contiguous blocks of a group, the first at or after the preferred one, outside of
    /// reserved ones (`ffs_clusteralloc`).
    fn alloc_cluster(&mut self, cg: u32, preference: Option<u32>, blocks: u32) -> Option<u32> {
        let (geometry, skip) = (self.geometry, self.reserved_blocks(cg));
        let start = match self.kernel {
            Kernel::FreeBsd48 => cg * geometry.fpg,
            Kernel::FreeBsd14 | Kernel::FreeBsd15 => geometry.data(cg),
        };
        let here = preference.filter(|&address| geometry.group(address) == cg);
        let from = here.unwrap_or(start) - cg * geometry.fpg;
        let first = self.groups[cg as usize].cluster(from / geometry.frag(), blocks, &skip)?;
        (first..first + blocks).for_each(|block| self.set(cg, block, 0));
        Some(cg * geometry.fpg + first * geometry.frag())
    }
}
