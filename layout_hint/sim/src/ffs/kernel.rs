//! Kernels, with their preferences for a file's next block.

use super::file::File;
use super::volume::Volume;
use super::{freebsd14, freebsd48};
use serde::Deserialize;

/// The modelled kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// FreeBSD 4.8.
    FreeBsd48,
    /// FreeBSD 12.1 to 14.
    FreeBsd14,
    /// FreeBSD 15.
    FreeBsd15,
}

/// Random numbers, as a kernel's `arc4random`.
pub trait Random {
    /// The next one.
    fn next_u32(&mut self) -> u32;
}

/// A block that a file needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The file's inode.
    pub inode: u32,
    /// The number in the file of the block, or of the one that an indirect block is needed for.
    pub lbn: u32,
    /// Its index among adjacent pointers; an indirect block: 0.
    pub index: u32,
    /// The block of the previous pointer, if there is one.
    pub previous: Option<u32>,
    /// The indirect block made for it just before, if any.
    pub before: Option<Before>,
}

/// An indirect block that was just made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// Where it was wanted.
    pub preference: Option<u32>,
    /// Where it is.
    pub address: u32,
}

impl Volume {
    /// The preferred address of a block of a file (`ffs_blkpref`).
    pub(super) fn prefer_block(&self, file: &File, wanted: &Wanted) -> Option<u32> {
        if let Some(own) = self.allocator {
            return own.block(self, wanted).filter(|&address| address < self.geometry.size);
        }
        match self.kernel {
            Kernel::FreeBsd48 => freebsd48::block(self, wanted),
            Kernel::FreeBsd14 | Kernel::FreeBsd15 => freebsd14::block(self, file, wanted),
        }
    }

    /// The preferred address of an indirect block of a file.
    pub(super) fn prefer_indirect(&self, file: &File, wanted: &Wanted) -> Option<u32> {
        if let Some(own) = self.allocator {
            return own.indirect(self, wanted).filter(|&address| address < self.geometry.size);
        }
        match self.kernel {
            Kernel::FreeBsd48 => freebsd48::indirect(self, wanted),
            Kernel::FreeBsd14 | Kernel::FreeBsd15 => Some(freebsd14::indirect(self, file, wanted)),
        }
    }
}
