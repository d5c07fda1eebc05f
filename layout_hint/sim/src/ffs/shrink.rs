//! A shrinking file.

use super::file::File;
use super::geometry::Geometry;

/// Free fragments: the first, and how many.
type Free = Vec<(u32, u32)>;

impl File {
    /// Makes a file shorter. Returns the freed fragments: its blocks from the last to the first, an
    /// indirect block after those that it leads to (`ffs_truncate`).
    pub(super) fn shrink(&mut self, geometry: &Geometry, size: u64) -> Free {
        let mut free = Free::new();
        let remaining = u32::try_from(size.div_ceil(geometry.bsize.into())).unwrap_or(u32::MAX);
        let mut end = self.before(u32::MAX);
        while let Some(lbn) = end.filter(|&lbn| lbn >= remaining) {
            if let Some(address) = self.block(lbn) {
                free.push((address, self.fragments(lbn, geometry)));
                self.set_block(lbn, 0);
            }
            end = self.before(lbn);
            self.shrink_indirect(geometry, lbn, end.max(remaining.checked_sub(1)), &mut free);
        }
        self.cut(remaining);
        let last = remaining.checked_sub(1).and_then(|lbn| Some((lbn, self.block(lbn)?)));
        let before = last.map(|(lbn, _)| self.fragments(lbn, geometry));
        self.size = size;
        if let (Some((lbn, address)), Some(before)) = (last, before) {
            let after = self.fragments(lbn, geometry);
            if after < before {
                free.push((address + after, before - after));
            }
        }
        free
    }

    /// Frees the indirect blocks on the way to a block that are not on the way to the next one.
    fn shrink_indirect(
        &mut self,
        geometry: &Geometry,
        lbn: u32,
        next: Option<u32>,
        free: &mut Free,
    ) {
        for slot in geometry.slots(lbn).rev() {
            let mut stay = next.into_iter().flat_map(|next| geometry.slots(next));
            if stay.any(|other| other == slot) {
                continue;
            }
            if let Some(address) = self.indirect(slot) {
                free.push((address, geometry.frag()));
                self.set_indirect(slot, 0);
            }
        }
    }
}
