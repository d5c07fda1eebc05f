//! Positions of a file's blocks.

use super::addresses::Addresses;
use super::geometry::Geometry;

/// Number of an inode's direct pointers.
pub const DIRECT: u32 = 12;

/// A file or directory: its size, and its pointers. An address of 0 is none: a hole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Whether it is a directory.
    pub directory: bool,
    /// Whether it was hinted, and its blocks are to be in the region.
    pub hot: bool,
    /// A directory's parent and depth.
    pub(super) within: Option<Within>,
    /// Bytes.
    pub size: u64,
    /// The group in which the next search for a cluster begins, after a failed one.
    pub(super) next_cluster: Option<u32>,
    direct: [u32; DIRECT as usize],
    behind: Option<Box<Behind>>,
}

/// A directory's place among directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Within {
    /// The inode of the directory that it is in.
    pub parent: u32,
    /// How many directories it is below the root (`di_dirdepth`).
    pub depth: u32,
    /// Directories in it.
    pub directories: u32,
}

/// A file's blocks beyond its direct ones; few files have them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Behind {
    /// The blocks behind indirect ones, from the first of them on.
    blocks: Addresses,
    /// The indirect blocks, by slot.
    indirect: Addresses,
}

impl File {
    /// An empty file, or a directory.
    pub(super) fn new(directory: bool, hot: bool) -> File {
        File { directory, hot, within: directory.then(Within::default), ..File::default() }
    }

    /// The address of a block.
    #[inline]
    pub fn block(&self, lbn: u32) -> Option<u32> {
        match self.direct.get(lbn as usize) {
            Some(&address) => Some(address).filter(|&address| address != 0),
            None => self.behind.as_ref()?.blocks.get(lbn - DIRECT),
        }
    }

    /// The numbers that blocks have, in order; some may be holes.
    pub fn blocks(&self) -> impl DoubleEndedIterator<Item = u32> + '_ {
        let behind = self.behind.iter().flat_map(|behind| behind.blocks.keys());
        (0..DIRECT).chain(behind.map(|behind| behind + DIRECT))
    }

    /// The block before one.
    pub(super) fn before(&self, lbn: u32) -> Option<u32> {
        let blocks = self.behind.as_ref().map(|behind| &behind.blocks);
        let behind = lbn.checked_sub(DIRECT).and_then(|lbn| blocks?.before(lbn));
        behind.map(|behind| behind + DIRECT).or_else(|| lbn.min(DIRECT).checked_sub(1))
    }

    /// All indirect blocks.
    pub fn indirect_blocks(&self) -> impl Iterator<Item = u32> + '_ {
        let indirect = self.behind.iter().map(|behind| &behind.indirect);
        indirect.flat_map(|indirect| indirect.keys().filter_map(|slot| indirect.get(slot)))
    }

    /// Sets a block's address.
    pub(super) fn set_block(&mut self, lbn: u32, address: u32) {
        match self.direct.get_mut(lbn as usize) {
            Some(slot) => *slot = address,
            None => self.behind.get_or_insert_default().blocks.set(lbn - DIRECT, address),
        }
    }

    /// The address of the indirect block in a slot.
    pub fn indirect(&self, slot: usize) -> Option<u32> {
        self.behind.as_ref()?.indirect.get(slot as u32)
    }

    /// Sets the address of the indirect block in a slot.
    pub(super) fn set_indirect(&mut self, slot: usize, address: u32) {
        self.behind.get_or_insert_default().indirect.set(slot as u32, address);
    }

    /// Drops the blocks from `lbn` on; all of them must be holes.
    pub(super) fn cut(&mut self, lbn: u32) {
        if let Some(behind) = &mut self.behind {
            behind.blocks.cut(lbn.saturating_sub(DIRECT));
        }
    }

    /// How many fragments block `lbn` has (`blksize`).
    pub fn fragments(&self, lbn: u32, geometry: &Geometry) -> u32 {
        let begin = u64::from(lbn) * u64::from(geometry.bsize);
        if lbn >= DIRECT || self.size >= begin + u64::from(geometry.bsize) {
            return geometry.frag();
        }
        (self.size.saturating_sub(begin) as u32).div_ceil(geometry.fsize)
    }

    /// The addresses in the format of recordings: direct blocks in order; `iN` is an indirect
    /// block, followed by its blocks, `IN` a double indirect one, and `TN` a triple one.
    pub fn shown(&self, geometry: &Geometry) -> String {
        let mut shown = String::new();
        let mut show = |mark: &str, address: Option<u32>| {
            if let Some(address) = address {
                shown.push(' ');
                shown.push_str(mark);
                shown.push_str(&address.to_string());
            }
        };
        let mut before = Vec::new();
        for lbn in self.blocks() {
            let slots: Vec<usize> = geometry.slots(lbn).collect();
            for (mark, slot) in ["T", "I", "i"][3 - slots.len()..].iter().zip(&slots) {
                if !before.contains(slot) {
                    show(mark, self.indirect(*slot));
                }
            }
            before = slots;
            show("", self.block(lbn));
        }
        shown
    }
}
