//! Where a file's blocks are.

/// How many pointers to blocks an inode has itself.
pub const DIRECT: u32 = 12;

/// A file or directory: its size, and its pointers. An address of 0 is none: a hole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Whether it is a directory.
    pub directory: bool,
    /// Whether it was hinted, and its blocks are to be in the region.
    pub hot: bool,
    /// Bytes.
    pub size: u64,
    /// The group in which the next search for a place for a cluster begins, after one in vain.
    pub(super) next_cluster: Option<u32>,
    direct: [u32; DIRECT as usize],
    /// The blocks behind indirect ones.
    rest: Vec<u32>,
    /// The indirect blocks: the single one, the double one, then those that the double one leads to.
    indirect: Vec<u32>,
}

/// How a block of a file is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// From the inode.
    Direct,
    /// Through the indirect block.
    Single,
    /// Through the double indirect block, and the indirect block with this number in it.
    Double(u32),
}

impl Level {
    /// That of block `lbn`, if blocks hold `nindir` addresses, and which pointer leads to the block
    /// from there; none for blocks beyond.
    pub fn of(lbn: u32, nindir: u32) -> Option<(Level, u32)> {
        let Some(behind) = lbn.checked_sub(DIRECT) else { return Some((Level::Direct, lbn)) };
        match behind / nindir {
            0 => Some((Level::Single, behind)),
            leaf if leaf <= nindir => Some((Level::Double(leaf - 1), behind % nindir)),
            _ => None,
        }
    }

    /// The slots of the indirect blocks on the way, from the inode on.
    pub fn slots(self) -> impl DoubleEndedIterator<Item = usize> {
        let slots = match self {
            Level::Direct => [None, None],
            Level::Single => [Some(0), None],
            Level::Double(leaf) => [Some(1), Some(leaf as usize + 2)],
        };
        slots.into_iter().flatten()
    }
}

impl File {
    /// An empty file, or a directory.
    pub(super) fn new(directory: bool, hot: bool) -> File {
        File { directory, hot, ..File::default() }
    }

    /// The address of a block.
    #[inline]
    pub fn block(&self, lbn: u32) -> Option<u32> {
        let address = match self.direct.get(lbn as usize) {
            Some(&address) => address,
            None => self.rest.get((lbn - DIRECT) as usize).copied().unwrap_or(0),
        };
        Some(address).filter(|&address| address != 0)
    }

    /// How many blocks there may be, the last one's number plus one.
    pub fn blocks(&self) -> u32 {
        DIRECT + self.rest.len() as u32
    }

    /// All indirect blocks.
    pub fn indirect_blocks(&self) -> impl Iterator<Item = u32> + '_ {
        self.indirect.iter().copied().filter(|&address| address != 0)
    }

    /// Says where a block is.
    pub(super) fn set_block(&mut self, lbn: u32, address: u32) {
        match self.direct.get_mut(lbn as usize) {
            Some(slot) => *slot = address,
            None => put(&mut self.rest, (lbn - DIRECT) as usize, address),
        }
    }

    /// The address of the indirect block in a slot.
    pub fn indirect(&self, slot: usize) -> Option<u32> {
        self.indirect.get(slot).copied().filter(|&address| address != 0)
    }

    /// Says where the indirect block of a slot is.
    pub(super) fn set_indirect(&mut self, slot: usize, address: u32) {
        put(&mut self.indirect, slot, address);
    }

    /// Forgets that there were blocks from `lbn` on; all of them must be holes.
    pub(super) fn cut(&mut self, lbn: u32) {
        self.rest.truncate(lbn.saturating_sub(DIRECT) as usize);
    }

    /// How many fragments block `lbn` has (`blksize`).
    pub fn fragments(&self, lbn: u32, bsize: u32, fsize: u32) -> u32 {
        let begin = u64::from(lbn) * u64::from(bsize);
        if lbn >= DIRECT || self.size >= begin + u64::from(bsize) {
            return bsize / fsize;
        }
        (self.size.saturating_sub(begin) as u32).div_ceil(fsize)
    }

    /// The addresses as a recording shows them: those of the direct blocks in order; `iN` is an
    /// indirect block, followed by the blocks that it points to, and `IN` a double indirect one.
    pub fn shown(&self, nindir: u32) -> String {
        let mut shown = String::new();
        let mut show = |mark: &str, address: Option<u32>| {
            if let Some(address) = address {
                shown.push(' ');
                shown.push_str(mark);
                shown.push_str(&address.to_string());
            }
        };
        for lbn in 0..self.blocks() {
            match Level::of(lbn, nindir) {
                Some((Level::Single, 0)) => show("i", self.indirect(0)),
                Some((Level::Double(leaf), 0)) => {
                    show("I", self.indirect(1).filter(|_| leaf == 0));
                    show("i", self.indirect(leaf as usize + 2));
                }
                _ => {}
            }
            show("", self.block(lbn));
        }
        shown
    }
}

fn put(addresses: &mut Vec<u32>, at: usize, address: u32) {
    if addresses.len() <= at {
        addresses.resize(at + 1, 0);
    }
    addresses[at] = address;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointers_to_a_block_are_direct_then_single_then_double() {
        assert_eq!(Level::of(11, 1024), Some((Level::Direct, 11)));
        assert_eq!(Level::of(12, 1024), Some((Level::Single, 0)));
        assert_eq!(Level::of(1035, 1024), Some((Level::Single, 1023)));
        assert_eq!(Level::of(1036, 1024), Some((Level::Double(0), 0)));
        assert_eq!(Level::of(2060, 1024), Some((Level::Double(1), 0)));
        let last = 12 + 1024 + 1024 * 1024 - 1;
        assert_eq!(Level::of(last, 1024), Some((Level::Double(1023), 1023)));
        assert_eq!(Level::of(last + 1, 1024), None);
    }
}
