//! Removed things that are not free yet.

use super::filesystem::FileSystem;
use super::kernel::Random;
use super::volume::Volume;

/// Fragments, and perhaps an inode, without a file, but not free: with soft updates they stay
/// allocated until the disk no longer has their owner.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "what is detached is lost until it is released"]
pub struct Detached {
    pub(super) key: usize,
}

/// The contents of a [`Detached`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Remains {
    /// The inode that goes with it, and whether it was a directory's.
    pub inode: Option<(u32, bool)>,
    /// The first fragment and how many, in the order in which the kernel frees them.
    pub fragments: Vec<(u32, u32)>,
}

impl<R: Random> FileSystem<R> {
    /// Makes detached things free: fragments, then the inode.
    pub fn release(&mut self, detached: Detached) {
        if let Some(remains) = self.detached.try_remove(detached.key) {
            self.volume.free_remains(&remains);
        }
    }

    pub(super) fn keep(&mut self, remains: Remains) -> Detached {
        Detached { key: self.detached.insert(remains) }
    }
}

impl Volume {
    pub(super) fn free_remains(&mut self, remains: &Remains) {
        for &(address, n) in &remains.fragments {
            self.free(address, n);
        }
        if let Some((inode, directory)) = remains.inode {
            self.release_inode(inode, directory);
        }
    }
}
