//! A file system's handling of a hint.

/// Outcome of a hint, for an inode or for a block. Numbered as `enum bm_outcome` in
/// `layout_hint/include/birthmark_hint.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// The inode is in the region.
    InodePlaced = 0,
    /// The block, or the fragments, are in the region.
    BlockPlaced = 1,
    /// There is no region.
    NoRegion = 2,
    /// No inode of the region is free.
    InodesFull = 3,
    /// No such run of fragments of the region is free.
    BlocksFull = 4,
    /// The block is beyond the hot blocks of its file.
    TooLarge = 6,
}
