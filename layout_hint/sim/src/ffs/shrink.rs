//! A file that gives blocks back.

use super::file::File;
use super::geometry::Geometry;
use super::level::Level;

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
        let mut end = self.before(u32::MAX);
        while let Some(lbn) = end.filter(|&lbn| lbn >= kept) {
            if let Some(address) = self.block(lbn) {
                free(address, self.fragments(lbn, bsize, fsize));
                self.set_block(lbn, 0);
            }
            end = self.before(lbn);
            self.shrink_indirect(geometry, lbn, end.max(kept.checked_sub(1)), &mut free);
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

    /// Frees the indirect blocks on the way to a block that are not on that to the next one.
    fn shrink_indirect(
        &mut self,
        geometry: &Geometry,
        lbn: u32,
        next: Option<u32>,
        free: &mut impl FnMut(u32, u32),
    ) {
        let level = |lbn| Level::of(lbn, geometry.nindir()).map(|(level, _)| level);
        let (level, next) = (level(lbn), next.and_then(level));
        if level == next {
            return;
        }
        for slot in level.into_iter().flat_map(Level::slots).rev() {
            let stays = next.into_iter().flat_map(Level::slots).any(|other| other == slot);
            if let Some(address) = self.indirect(slot).filter(|_| !stays) {
                free(address, geometry.frag());
                self.set_indirect(slot, 0);
            }
        }
    }
}
