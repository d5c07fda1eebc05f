//! Where a new directory and a file's next block should be.

use super::file::File;
use super::volume::Volume;

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
    /// Which of the pointers beside each other it will have; an indirect block: 0.
    pub index: u32,
    /// Where the block is that the pointer before leads to, if there is one.
    pub previous: Option<u32>,
    /// The indirect block that was made for it just before, if one was.
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

/// What differs between kernels in how preferences are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Those of FreeBSD 4.8.
    FreeBsd48,
    /// Those of FreeBSD 12.1 and later.
    FreeBsd14,
}

/// Preferences, which the volume follows as far as it can.
pub trait Policy {
    /// How they are followed.
    fn rules(&self) -> Rules;

    /// The inode for a directory that is made in another.
    fn directory(&self, volume: &Volume, parent: u32, root: bool, random: &mut dyn Random) -> u32;

    /// The address for a block of a file.
    fn block(&self, volume: &Volume, file: &File, wanted: &Wanted) -> Option<u32>;

    /// The address for an indirect block of a file.
    fn indirect(&self, volume: &Volume, file: &File, wanted: &Wanted) -> Option<u32>;
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn rules(&self) -> Rules {
        (**self).rules()
    }

    fn directory(&self, volume: &Volume, parent: u32, root: bool, random: &mut dyn Random) -> u32 {
        (**self).directory(volume, parent, root, random)
    }

    fn block(&self, volume: &Volume, file: &File, wanted: &Wanted) -> Option<u32> {
        (**self).block(volume, file, wanted)
    }

    fn indirect(&self, volume: &Volume, file: &File, wanted: &Wanted) -> Option<u32> {
        (**self).indirect(volume, file, wanted)
    }
}
