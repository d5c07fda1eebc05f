//! A file that gives blocks back.

use super::file::{File, Level};
use super::geometry::Geometry;

impl File {
    /// Makes a file shorter, and says what is free then: its blocks from the last to the first, an
    /// indirect block after those that it leads to (`ffs_truncate`).
    pub(super) fn shrink(
        &mut self,
        geometry: &Geometry,
        size: u64,
        mut free: impl FnMut(u32, u32),
    ) {
        let (bsize, fsize) = (geometry.bsize, geometry.fsize);
        let kept = u32::try_from(size.div_ceil(bsize.into())).unwrap_or(u32::MAX);
        for lbn in (kept..self.blocks()).rev() {
            if let Some(address) = self.block(lbn) {
                free(address, self.fragments(lbn, bsize, fsize));
                self.set_block(lbn, 0);
            }
            self.shrink_indirect(geometry, lbn, &mut free);
        }
        self.cut(kept);
        let last = kept.checked_sub(1).and_then(|lbn| Some((lbn, self.block(lbn)?)));
        let before = last.map(|(lbn, _)| self.fragments(lbn, bsize, fsize));
        self.size = size;
        if let (Some((lbn, address)), Some(before)) = (last, before) {
            let after = self.fragments(lbn, bsize, fsize);
            if after < before {
                free(address + after, before - after);
            }
        }
    }

    /// Frees the indirect blocks of which this was the first block.
    fn shrink_indirect(&mut self, geometry: &Geometry, lbn: u32, free: &mut impl FnMut(u32, u32)) {
        let level = match Level::of(lbn, geometry.nindir()) {
            Some((level, 0)) => level,
            _ => return,
        };
        // the double indirect block goes with the first of those that it leads to
        let gone = level.slots().rev().filter(|&slot| slot != 1 || level == Level::Double(0));
        for slot in gone {
            if let Some(address) = self.indirect(slot) {
                free(address, geometry.frag());
                self.set_indirect(slot, 0);
            }
        }
    }
}
