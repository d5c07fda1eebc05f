//! Allocators of one's own: where the blocks of files are wanted, in place of a kernel's preference.

mod packed;

use super::kernel::Wanted;
use super::volume::Volume;
use std::fmt;

/// A preference for the positions of files' blocks. Inodes, groups of directories, fragments,
/// clusters and fallbacks stay as in a kernel.
pub trait Allocator: Sync {
    /// Its name in descriptions of runs.
    fn name(&self) -> &'static str;

    /// The preferred address of a block, in fragments; none: continue the search in the file's
    /// group.
    fn block(&self, volume: &Volume, wanted: &Wanted) -> Option<u32>;

    /// The same for an indirect block.
    fn indirect(&self, volume: &Volume, wanted: &Wanted) -> Option<u32> {
        self.block(volume, wanted)
    }
}

/// The allocators with a name in [`named`].
pub static ALLOCATORS: &[&dyn Allocator] = &[&packed::Packed];

/// The allocator of a name.
pub fn named(name: &str) -> Option<&'static dyn Allocator> {
    ALLOCATORS.iter().copied().find(|each| each.name() == name)
}

impl fmt::Debug for dyn Allocator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for dyn Allocator {
    fn eq(&self, other: &dyn Allocator) -> bool {
        self.name() == other.name()
    }
}

impl Eq for dyn Allocator {}
