//! A file that gives blocks back.

use super::file::{File, Level};
use super::volume::Volume;

impl Volume {
    /// Makes a file shorter. Its blocks are freed from the last to the first, an indirect block
    /// after those that it leads to (`ffs_truncate`).
    pub fn shrink(&mut self, file: &mut File, size: u64) {
        let (bsize, fsize) = (self.geometry.bsize, self.geometry.fsize);
        let kept = u32::try_from(size.div_ceil(bsize.into())).unwrap_or(u32::MAX);
        for lbn in (kept..file.blocks()).rev() {
            if let Some(address) = file.block(lbn) {
                self.release(address, file.fragments(lbn, bsize, fsize));
                file.set_block(lbn, 0);
            }
            self.shrink_indirect(file, lbn);
        }
        file.cut(kept);
        let last = kept.checked_sub(1).and_then(|lbn| Some((lbn, file.block(lbn)?)));
        let before = last.map(|(lbn, _)| file.fragments(lbn, bsize, fsize));
        file.size = size;
        if let (Some((lbn, address)), Some(before)) = (last, before) {
            let after = file.fragments(lbn, bsize, fsize);
            self.release(address + after, before - after);
        }
    }

    /// Frees the indirect blocks of which this was the first block.
    fn shrink_indirect(&mut self, file: &mut File, lbn: u32) {
        let level = match Level::of(lbn, self.geometry.nindir()) {
            Some((level, 0)) => level,
            _ => return,
        };
        // the double indirect block goes with the first of those that it leads to
        let gone = level.slots().rev().filter(|&slot| slot != 1 || level == Level::Double(0));
        for slot in gone {
            if let Some(address) = file.indirect(slot) {
                self.release(address, self.geometry.frag());
                file.set_indirect(slot, 0);
            }
        }
    }
}
