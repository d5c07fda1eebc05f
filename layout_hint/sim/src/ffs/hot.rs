//! Inodes and fragments of the region, for hot files.

use super::region::RegionMode;
use super::runs;
use super::volume::Volume;
use birthmark_hook::Outcome;
use std::ops::Range;

impl Volume {
    /// Takes the first free inode of the region, if there is one.
    pub(super) fn place_inode(&mut self, directory: bool) -> Option<u32> {
        let Some(region) = &self.region else {
            self.changes.hint(Outcome::NoRegion);
            return None;
        };
        if region.inodes.is_empty() {
            return None;
        }
        let (cg, base) = (region.cg, region.cg * self.geometry.ipg);
        let found = self.groups[cg as usize].first_inode(region.inodes.start - base);
        let Some(at) = found.filter(|at| base + at < region.inodes.end) else {
            self.changes.hint(Outcome::InodesFull);
            return None;
        };
        self.set_inode(cg, at, directory, false);
        self.changes.hint(Outcome::InodePlaced);
        Some(base + at)
    }

    /// Takes `n` fragments of the region for something hot; if they do not fit, at least `least`.
    pub(super) fn place_hot(&mut self, n: u32, least: u32, hot: bool) -> Option<(u32, u32)> {
        if !hot {
            return None;
        }
        let mut placed = self.place(n).map(|address| (address, n));
        if placed.is_none() && least < n {
            placed = self.place(least).map(|address| (address, least));
        }
        let outcome = if placed.is_some() { Outcome::BlockPlaced } else { Outcome::BlocksFull };
        self.changes.hint(outcome);
        placed
    }

    /// Takes fragments of the region: of the first of the shortest free runs that are long enough,
    /// else of a block. Rotors do not move.
    fn place(&mut self, n: u32) -> Option<u32> {
        let region = self.region.as_ref()?;
        let (cg, base) = (region.cg, region.cg * self.geometry.fpg);
        let within = region.fragments.start - base..region.fragments.end - base;
        let at = self.shortest(cg, within, n)?;
        let (block, first) = (at / self.geometry.frag(), at % self.geometry.frag());
        let free = self.groups[cg as usize].block(block) & !runs::mask(first, n);
        self.set(cg, block, free);
        Some(base + at)
    }

    fn shortest(&self, cg: u32, within: Range<u32>, n: u32) -> Option<u32> {
        let (group, frag) = (&self.groups[cg as usize], self.geometry.frag());
        let mut best = None;
        for block in within.start / frag..within.end.div_ceil(frag) {
            let first = within.start.saturating_sub(block * frag);
            let end = (within.end - block * frag).min(frag);
            let free = group.block(block) & runs::mask(first, end - first);
            for (start, length) in runs::of(free).filter(|&(_, length)| length >= n) {
                if best.is_none_or(|(shortest, _)| length < shortest) {
                    best = Some((length, block * frag + start));
                }
            }
            if best.is_some_and(|(shortest, _)| shortest == n) {
                break;
            }
        }
        best.map(|(_, at)| at)
    }

    /// The reserved blocks of a group.
    #[inline]
    pub(super) fn reserved_blocks(&self, cg: u32) -> Range<u32> {
        let (frag, base) = (self.geometry.frag(), cg * self.geometry.fpg);
        match &self.region {
            Some(region) if region.mode != RegionMode::Preferred && region.cg == cg => {
                let fragments = &region.fragments;
                (fragments.start - base) / frag..(fragments.end - base).div_ceil(frag)
            }
            _ => 0..0,
        }
    }

    /// The reserved inodes of a group, from its first on.
    #[inline]
    pub(super) fn reserved_inodes(&self, cg: u32) -> Range<u32> {
        let base = cg * self.geometry.ipg;
        match &self.region {
            Some(region) if region.mode == RegionMode::Reserved && region.cg == cg => {
                region.inodes.start - base..region.inodes.end - base
            }
            _ => 0..0,
        }
    }

    /// Whether a region reserves anything.
    #[inline]
    pub(super) fn reserves(&self) -> bool {
        self.region.as_ref().is_some_and(|region| region.mode != RegionMode::Preferred)
    }

    /// A group's free inodes for others than hot files: none if all are reserved.
    #[inline]
    pub(super) fn nifree(&self, cg: u32) -> u32 {
        let (group, reserved) = (&self.groups[cg as usize], self.reserved_inodes(cg));
        match reserved.is_empty() || group.next_inode(&reserved).is_some() {
            true => group.summary.nifree,
            false => 0,
        }
    }
}
