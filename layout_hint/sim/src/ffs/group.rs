//! A cylinder group: its maps, its rotors and its counts.

use super::bitmap::Bitmap;
use super::geometry::Geometry;
use super::runs::{self, LENGTHS};
use std::ops::Range;

/// Free resources and number of directories of a group, or of all groups (`struct csum`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Directories.
    pub ndir: u32,
    /// Free blocks.
    pub nbfree: u32,
    /// Free inodes.
    pub nifree: u32,
    /// Free fragments in blocks that are partly in use.
    pub nffree: u32,
}

/// A cylinder group (`struct cg`). Fragments and inodes are counted from its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its counts.
    pub summary: Summary,
    /// Position of the last block found by a search.
    pub rotor: u32,
    /// Position of the last find of any search, at the beginning of a byte of the free map.
    pub frotor: u32,
    /// Where a search for a free inode begins, rounded down to a byte of the map.
    pub irotor: u32,
    /// How many of its inodes have been made, from the first on (`cg_initediblk`).
    pub made: u32,
    /// How many runs of each length there are in blocks not wholly free (`cg_frsum`).
    pub frsum: [u32; 8],
    frag: u32,
    /// A byte per block, a bit for each free fragment.
    free: Vec<u8>,
    /// Per length of a run, less one, the blocks that have such a run.
    runs: Vec<Bitmap>,
    /// Free inodes.
    inodes: Bitmap,
}

impl Group {
    /// A group of a file system without files (`initcg` of newfs).
    pub fn new(geometry: &Geometry, index: u32) -> Group {
        let (frag, blocks) = (geometry.frag(), geometry.fpg / geometry.frag());
        let mut group = Group {
            summary: Summary { nifree: geometry.ipg, ..Summary::default() },
            rotor: 0,
            frotor: 0,
            irotor: 0,
            made: geometry.first_made(),
            frsum: [0; 8],
            frag,
            free: vec![0; blocks as usize],
            runs: vec![Bitmap::new(blocks); frag as usize],
            inodes: Bitmap::new(geometry.ipg),
        };
        (0..geometry.ipg).for_each(|inode| group.inodes.set(inode, true));
        let (metadata, end) = (geometry.metadata(index), geometry.fragments(index));
        for block in 0..blocks {
            let fragments = (0..frag).map(|i| (i, block * frag + i));
            let data = fragments.filter(|(_, at)| !metadata.contains(at) && *at < end);
            group.set(block, data.fold(0, |free, (i, _)| free | 1 << i));
        }
        group
    }

    /// A block's fragments: a bit is set for each free one.
    #[inline]
    pub fn block(&self, block: u32) -> u8 {
        self.free[block as usize]
    }

    /// A block wholly free.
    #[inline]
    pub fn whole(&self) -> u8 {
        runs::mask(0, self.frag)
    }

    /// Sets the free fragments of a block, and updates the counts (`ffs_fragacct`).
    #[inline]
    pub fn set(&mut self, block: u32, free: u8) {
        let before = std::mem::replace(&mut self.free[block as usize], free);
        let mut changed = LENGTHS[before as usize] ^ LENGTHS[free as usize];
        while changed != 0 {
            let length = changed.trailing_zeros();
            let has = LENGTHS[free as usize] >> length & 1 != 0;
            self.runs[length as usize].set(block, has);
            changed &= changed - 1;
        }
        self.count(before, u32::wrapping_sub);
        self.count(free, u32::wrapping_add);
    }

    /// Adds a block's runs to the counts, or takes them away.
    #[inline]
    fn count(&mut self, free: u8, add: impl Fn(u32, u32) -> u32) {
        if free == self.whole() {
            self.summary.nbfree = add(self.summary.nbfree, 1);
            return;
        }
        self.summary.nffree = add(self.summary.nffree, free.count_ones());
        for (_, length) in runs::of(free) {
            let sum = &mut self.frsum[length as usize];
            *sum = add(*sum, 1);
        }
    }

    /// The first run of exactly `length` fragments, at or above `from` rounded down to a byte of
    /// the free map, else from the beginning of the group (`ffs_mapsearch`). Not in the blocks of
    /// `skip`.
    #[inline]
    pub fn search(&mut self, from: u32, length: u32, skip: &Range<u32>) -> Option<u32> {
        let block = self.runs[length as usize - 1].next_around((from & !7) / self.frag, skip)?;
        self.frotor = (block * self.frag) & !7;
        let (start, _) = runs::of(self.block(block)).find(|run| run.1 == length)?;
        Some(block * self.frag + start)
    }

    /// The first run of `blocks` free blocks, none of them before `from` or in `skip`.
    pub fn cluster(&self, from: u32, blocks: u32, skip: &Range<u32>) -> Option<u32> {
        self.runs[self.frag as usize - 1].row(from, blocks, skip)
    }

    /// Whether an inode is free.
    #[inline]
    pub fn is_free(&self, inode: u32) -> bool {
        self.inodes.has(inode)
    }

    /// The first free inode outside `skip`, from the rotor's byte of the map on, else from the
    /// first on.
    #[inline]
    pub fn next_inode(&self, skip: &Range<u32>) -> Option<u32> {
        self.inodes.next_around(self.irotor & !7, skip)
    }

    /// The first free inode that is not below `from`.
    #[inline]
    pub fn first_inode(&self, from: u32) -> Option<u32> {
        self.inodes.next(from)
    }

    /// Sets whether an inode is free.
    #[inline]
    pub fn set_inode(&mut self, inode: u32, free: bool) {
        self.inodes.set(inode, free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffs::Random;

    /// The search of `ffs_mapsearch`, over the map's bits alone: bytes from `from`'s on, then the
    /// others; in a byte the first block with a run of the length that has taken ones, or the
    /// block's end, on both sides.
    fn naive(group: &Group, from: u32, length: u32) -> Option<u32> {
        let (frag, blocks) = (group.frag, group.free.len() as u32);
        let free = |at: u32| group.block(at / frag) >> (at % frag) & 1 != 0;
        let exact = |at: u32| {
            let (first, end) = (at / frag * frag, at / frag * frag + frag);
            at + length <= end
                && (at..at + length).all(free)
                && (at == first || !free(at - 1))
                && (at + length == end || !free(at + length))
        };
        let all = 0..blocks * frag;
        all.clone().skip((from / 8 * 8) as usize).chain(all).find(|&at| exact(at))
    }

    #[test]
    fn a_search_finds_what_a_scan_of_the_bits_does_and_counts_are_recounts() {
        let mut random = crate::ffs::recording::Lcg::default();
        let mut below = |bound: u32| random.next_u32() % bound;
        for (bsize, fsize) in [(16384, 2048), (16384, 4096), (8192, 4096), (4096, 4096)] {
            let geometry = Geometry { bsize, fsize, ..Geometry::new(2048, 2048, 128) };
            geometry.check().unwrap();
            let mut group = Group::new(&geometry, 0);
            let blocks = group.free.len() as u32;
            for _ in 0..2000 {
                let free = below(256) as u8 & group.whole();
                group.set(below(blocks), if below(3) > 0 { 0 } else { free });
                let (from, length) = (below(2048), 1 + below(group.frag));
                let expected = naive(&group, from, length);
                assert_eq!(group.search(from, length, &(0..0)), expected);
                expected.inspect(|&at| assert_eq!(group.frotor, at / 8 * 8));
            }
            let whole = group.free.iter().filter(|&&free| free == group.whole()).count() as u32;
            let bits: u32 = group.free.iter().map(|free| free.count_ones()).sum();
            assert_eq!(group.summary.nbfree, whole);
            assert_eq!(group.summary.nffree, bits - whole * group.frag);
        }
    }

    #[test]
    fn a_fresh_group_has_free_what_newfs_leaves_free() {
        let geometry = Geometry::new(65536, 4096, 1024);
        let (first, second) = (Group::new(&geometry, 0), Group::new(&geometry, 1));
        assert_eq!((first.summary.nbfree, first.summary.nffree), (500, 7));
        assert_eq!((second.summary.nbfree, second.summary.nffree), (502, 0));
        assert_eq!((second.block(0), second.block(1)), (255, 0));
    }
}
