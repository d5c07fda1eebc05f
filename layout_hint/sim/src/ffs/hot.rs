//! Inodes and fragments of the region, for what is hot.

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

    /// Takes fragments of the region, if they are for something hot: so many, or where these do not
    /// fit, at least those.
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

    /// Takes fragments of the region: of the shortest free run that has enough, of those the first,
    /// else of a block. Rotors stay where they are.
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

    /// The blocks of a group that are kept for what is hot.
    #[inline]
    pub(super) fn kept_blocks(&self, cg: u32) -> Range<u32> {
        let (frag, base) = (self.geometry.frag(), cg * self.geometry.fpg);
        match &self.region {
            Some(region) if region.mode != RegionMode::Preferred && region.cg == cg => {
                let fragments = &region.fragments;
                (fragments.start - base) / frag..(fragments.end - base).div_ceil(frag)
            }
            _ => 0..0,
        }
    }

    /// The inodes of a group, from its first on, that are kept for what is hot.
    #[inline]
    pub(super) fn kept_inodes(&self, cg: u32) -> Range<u32> {
        let base = cg * self.geometry.ipg;
        match &self.region {
            Some(region) if region.mode == RegionMode::Reserved && region.cg == cg => {
                region.inodes.start - base..region.inodes.end - base
            }
            _ => 0..0,
        }
    }

    /// Whether something of a region is kept free of others.
    #[inline]
    pub(super) fn reserves(&self) -> bool {
        self.region.as_ref().is_some_and(|region| region.mode != RegionMode::Preferred)
    }

    /// A group's free inodes, as others than what is hot see them: none where all are kept.
    #[inline]
    pub(super) fn nifree(&self, cg: u32) -> u32 {
        let (group, kept) = (&self.groups[cg as usize], self.kept_inodes(cg));
        match kept.is_empty() || group.next_inode(&kept).is_some() {
            true => group.summary.nifree,
            false => 0,
        }
    }
}
