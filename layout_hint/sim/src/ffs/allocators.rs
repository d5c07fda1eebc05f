//! Allocators of one's own: where the blocks of files are wanted, in place of a kernel's preference.

use super::kernel::Wanted;
use super::volume::Volume;
use std::fmt;

/// Where the blocks of files are wanted. Inodes, groups of directories, fragments, clusters and what
/// happens where there is no room stay as a kernel has them.
pub trait Allocator: Sync {
    /// What it is called where runs are described.
    fn name(&self) -> &'static str;

    /// The address that is preferred for a block, in fragments; none: where the search in the
    /// file's group goes on.
    fn block(&self, volume: &Volume, wanted: &Wanted) -> Option<u32>;

    /// The same for an indirect block.
    fn indirect(&self, volume: &Volume, wanted: &Wanted) -> Option<u32> {
        self.block(volume, wanted)
    }
}

/// Those that have a name in [`named`].
pub static ALLOCATORS: &[&dyn Allocator] = &[&Packed];

/// The allocator of a name.
pub fn named(name: &str) -> Option<&'static dyn Allocator> {
    ALLOCATORS.iter().copied().find(|each| each.name() == name)
}

/// All files at the beginning of the partition, whatever directory they are in: behind their block
/// before, and their first block in the first group that has a free one.
struct Packed;

impl Allocator for Packed {
    fn name(&self) -> &'static str {
        "packed"
    }

    fn block(&self, volume: &Volume, wanted: &Wanted) -> Option<u32> {
        let geometry = &volume.geometry;
        if let Some(previous) = wanted.previous {
            return Some(previous + geometry.frag());
        }
        let cg = volume.groups.iter().position(|group| group.summary.nbfree > 0)?;
        Some(geometry.fpg * cg as u32 + geometry.frag())
    }
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
