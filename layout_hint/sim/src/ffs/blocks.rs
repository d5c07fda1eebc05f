//! Blocks and fragments: taken near a preference, and given back.

use super::changes::Change;
use super::kernel::Kernel;
use super::volume::Volume;
use super::{runs, Error};
use std::ops::Range;

impl Volume {
    /// Takes at most a block of fragments near the preferred address, else in the inode's group
    /// (`ffs_alloc`); for something hot, in the region if they fit. Fragments never cross the
    /// border of a block.
    pub fn alloc(
        &mut self,
        inode: u32,
        preference: Option<u32>,
        n: u32,
        hot: bool,
    ) -> Result<u32, Error> {
        if n == self.geometry.frag() && self.total.nbfree == 0 || !self.may_give(n) {
            return Err(Error::NoSpace);
        }
        if let Some((address, _)) = self.place_hot(n, n, hot) {
            return Ok(address);
        }
        let preference = preference.filter(|&address| address < self.geometry.size);
        let inode_group = self.geometry.inode_group(inode);
        let cg = preference.map_or(inode_group, |address| self.geometry.group(address));
        self.alloc_near(cg, preference, n).ok_or(Error::NoSpace)
    }

    /// Takes fragments in a group, else in another; reserved ones last.
    pub(super) fn alloc_near(&mut self, cg: u32, preference: Option<u32>, n: u32) -> Option<u32> {
        if self.reserves() {
            let outside = self.rehash(cg, preference, |volume, cg, preference| {
                volume.alloc_in_group(cg, preference, n, volume.reserved_blocks(cg))
            });
            if outside.is_some() {
                return outside;
            }
        }
        self.rehash(cg, preference, |volume, cg, preference| {
            volume.alloc_in_group(cg, preference, n, 0..0)
        })
    }

    /// Takes fragments in a group: of the shortest free run that is long enough, else of a block
    /// (`ffs_alloccg`).
    fn alloc_in_group(
        &mut self,
        cg: u32,
        preference: Option<u32>,
        n: u32,
        skip: Range<u32>,
    ) -> Option<u32> {
        let (frag, fpg) = (self.geometry.frag(), self.geometry.fpg);
        let group = &mut self.groups[cg as usize];
        if n == frag {
            return self.alloc_block(cg, preference, &skip);
        }
        let from = preference.map_or(group.frotor, |address| address % fpg);
        let frsum = group.frsum;
        let mut lengths = (n..frag).filter(|&length| frsum[length as usize] > 0);
        let found = lengths.find_map(|length| group.search(from, length, &skip));
        let Some(at) = found else {
            let address = self.alloc_block(cg, preference, &skip)?;
            self.release(address + n, frag - n);
            return Some(address);
        };
        let group = &self.groups[cg as usize];
        let free = group.block(at / frag) & !runs::mask(at % frag, n);
        self.set(cg, at / frag, free);
        Some(cg * fpg + at)
    }

    /// Takes a block in a group: the preferred one, else the next above it (`ffs_alloccgblk`).
    fn alloc_block(&mut self, cg: u32, preference: Option<u32>, skip: &Range<u32>) -> Option<u32> {
        let (frag, fpg) = (self.geometry.frag(), self.geometry.fpg);
        if self.groups[cg as usize].summary.nbfree == 0 {
            return None;
        }
        let data = self.geometry.dblkno() + self.geometry.metaspace;
        let (from, exactly) = self.begin(cg, preference);
        let group = &mut self.groups[cg as usize];
        let block = from / frag;
        let free = exactly && group.block(block) == group.whole() && !skip.contains(&block);
        let at = match (free, self.kernel) {
            (true, _) => block * frag,
            (false, Kernel::FreeBsd48) => {
                // where this is 0, `ffs_mapsearch` takes it for none
                let from = if block == 0 { group.frotor } else { block * frag };
                group.rotor = group.search(from, frag, skip)?;
                group.rotor
            }
            (false, Kernel::FreeBsd14 | Kernel::FreeBsd15) => {
                let at = group.search(from, frag, skip)?;
                if at >= data {
                    group.rotor = at;
                }
                at
            }
        };
        self.set(cg, at / frag, 0);
        Some(cg * fpg + at)
    }

    /// Start of the search for a block in a group, and whether the block there will do: at the
    /// preference; if that is elsewhere, at the rotor in FreeBSD 4.8, and later in the same kind of
    /// space of this group; without one, at the rotor, and later after it.
    fn begin(&self, cg: u32, preference: Option<u32>) -> (u32, bool) {
        let (geometry, rotor) = (&self.geometry, self.groups[cg as usize].rotor);
        match (preference, self.kernel) {
            (Some(address), _) if geometry.group(address) == cg => (address % geometry.fpg, true),
            (_, Kernel::FreeBsd48) => (rotor, false),
            (None, Kernel::FreeBsd14 | Kernel::FreeBsd15) => {
                ((rotor + geometry.frag()) % geometry.fpg, true)
            }
            (Some(address), Kernel::FreeBsd14 | Kernel::FreeBsd15) => {
                let is_metadata = address < geometry.data(geometry.group(address));
                let zone = if is_metadata { 0 } else { geometry.metaspace };
                ((geometry.dblkno() + zone) % geometry.fpg, true)
            }
        }
    }

    /// Frees a file's fragments of one block (`ffs_blkfree`).
    pub fn free(&mut self, address: u32, n: u32) {
        self.release(address, n);
        self.changes.push(Change::Freed { address, fragments: n });
    }

    /// Returns fragments of one block.
    pub(super) fn release(&mut self, address: u32, n: u32) {
        let (cg, at) = (self.geometry.group(address), address % self.geometry.fpg);
        let frag = self.geometry.frag();
        let free = self.groups[cg as usize].block(at / frag) | runs::mask(at % frag, n);
        self.set(cg, at / frag, free);
    }
}
