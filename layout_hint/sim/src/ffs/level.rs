//! Levels of indirection.

use super::geometry::Geometry;
use super::DIRECT;

/// The path to a block of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// From the inode.
    Direct,
    /// Through the indirect block.
    Single,
    /// Through the double indirect block, and the indirect block with this number in it.
    Double(u32),
    /// Through the triple indirect block, the double indirect block with this number in it, and the
    /// indirect block with this number of all behind it.
    Triple(u32, u32),
}

/// The slots of the triple indirect block, before those that it leads to, and of the last ones on
/// its ways: beyond those that a double indirect block has, and that a triple one may lead to.
const TRIPLE: usize = 1 << 16;
const LEAVES: usize = 1 << 17;

impl Level {
    /// The level of block `lbn`, if blocks hold `nindir` addresses, and the index of its pointer
    /// there; none for blocks beyond.
    pub fn of(lbn: u32, nindir: u32) -> Option<(Level, u32)> {
        let Some(behind) = lbn.checked_sub(DIRECT) else { return Some((Level::Direct, lbn)) };
        let (leaf, index) = (behind / nindir, behind % nindir);
        let level = match leaf {
            0 => Level::Single,
            _ if leaf <= nindir => Level::Double(leaf - 1),
            _ => {
                let leaf = leaf - 1 - nindir;
                Level::Triple(Some(leaf / nindir).filter(|&middle| middle < nindir)?, leaf)
            }
        };
        Some((level, index))
    }

    /// The slots of the indirect blocks on the way, from the inode on.
    pub fn slots(self) -> impl DoubleEndedIterator<Item = usize> {
        let slots = match self {
            Level::Direct => [None, None, None],
            Level::Single => [Some(0), None, None],
            Level::Double(leaf) => [Some(1), Some(leaf as usize + 2), None],
            Level::Triple(middle, leaf) => {
                let (middle, leaf) = (TRIPLE + 1 + middle as usize, LEAVES + leaf as usize);
                [Some(TRIPLE), Some(middle), Some(leaf)]
            }
        };
        slots.into_iter().flatten()
    }
}

impl Geometry {
    /// The slots of the indirect blocks on the way to a block, from the inode on.
    pub fn slots(&self, lbn: u32) -> impl DoubleEndedIterator<Item = usize> {
        let level = Level::of(lbn, self.nindir()).map(|(level, _)| level);
        level.into_iter().flat_map(Level::slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointers_to_a_block_are_direct_then_single_then_double_then_triple() {
        assert_eq!(Level::of(11, 1024), Some((Level::Direct, 11)));
        assert_eq!(Level::of(12, 1024), Some((Level::Single, 0)));
        assert_eq!(Level::of(1035, 1024), Some((Level::Single, 1023)));
        assert_eq!(Level::of(1036, 1024), Some((Level::Double(0), 0)));
        assert_eq!(Level::of(2060, 1024), Some((Level::Double(1), 0)));
        let last = 12 + 1024 + 1024 * 1024 - 1;
        assert_eq!(Level::of(last, 1024), Some((Level::Double(1023), 1023)));
        assert_eq!(Level::of(last + 1, 1024), Some((Level::Triple(0, 0), 0)));
        assert_eq!(Level::of(last + 1 + 1024 * 1025, 1024), Some((Level::Triple(1, 1025), 0)));
        let last = last + 1024 * 1024 * 1024;
        assert_eq!(Level::of(last, 1024), Some((Level::Triple(1023, 1024 * 1024 - 1), 1023)));
        assert_eq!(Level::of(last + 1, 1024), None);
    }

    #[test]
    fn no_two_indirect_blocks_have_the_same_slot() {
        // the most addresses that a block may hold
        let nindir = 16384;
        let double = Level::Double(nindir - 1).slots().last();
        let triple: Vec<_> = Level::Triple(nindir - 1, nindir * nindir - 1).slots().collect();
        assert!(double < Some(triple[0]) && triple[0] < triple[1] && triple[1] < LEAVES);
        assert!(u32::try_from(triple[2]).is_ok());
    }
}
