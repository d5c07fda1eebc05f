//! The allocators of FreeBSD 4.8's and 14's fast file system (FFS), over a file system with maps
//! but without data: the placement of inodes, blocks and fragments.
//!
//! The structure is that of McKusick, Joy, Leffler and Fabry, "A fast file system for UNIX", ACM
//! Transactions on Computer Systems 2(3), 1984; the behaviour is that of the functions that the
//! comments name (`ffs_alloc`, `ffs_dirpref` and so on). Addresses are fragments from the beginning
//! of the partition. Nothing is delayed: a caller with soft updates removes in two steps.
//!
//! - [`Volume`]: the cylinder groups and their books. It takes and gives back inodes, blocks and
//!   fragments near a preference.
//! - [`Kernel`]: the kernel and its preferences.
//! - [`Allocator`]: other preferences in place of those.
//! - [`Region`]: the place of hot files and directories.
//! - [`FileSystem`]: files and directories over all of these. It can log every [`Change`].
//! - [`Replay`]: a recording of the real allocator, repeated and compared.

mod addresses;
mod allocators;
mod bitmap;
mod blocks;
mod changes;
mod check;
mod clusters;
mod detached;
mod extend;
mod file;
mod filesystem;
mod freebsd14;
mod freebsd15;
mod freebsd48;
mod geometry;
mod group;
mod groups;
mod growth;
mod hot;
mod inodes;
mod journal;
mod kernel;
mod level;
mod lines;
mod newfs;
mod recording;
mod region;
mod removal;
mod request;
mod runs;
mod shrink;
#[cfg(test)]
mod tests;
mod volume;

pub use allocators::{named, Allocator, ALLOCATORS};
pub use changes::Change;
pub use check::Inconsistency;
pub use detached::Detached;
pub use file::{File, DIRECT};
pub use filesystem::{FileSystem, ROOT};
pub use geometry::{Format, Geometry, GeometryError, SUPERBLOCK};
pub use group::{Group, Summary};
pub use kernel::{Before, Kernel, Random, Wanted};
pub use lines::RecordingError;
pub use recording::{Difference, Lcg, Replay};
pub use region::{Region, RegionError, RegionMode};
pub use volume::{Optimization, Volume};

/// The reason for a failed operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No blocks or fragments left, or none outside the reserve (ENOSPC).
    #[error("no space left")]
    NoSpace,
    /// No inodes left (ENOSPC).
    #[error("no inodes left")]
    NoInodes,
    /// More blocks than pointers reach, the triple indirect one included (EFBIG).
    #[error("file too large")]
    TooLarge,
    /// No file has this inode.
    #[error("nothing has inode {0}")]
    NoFile(u32),
    /// The kernel has no journal.
    #[error("journal: FreeBSD 4.8 has none, expected freebsd14 or freebsd15")]
    NoJournal,
    /// This inode is no directory.
    #[error("inode {0} is no directory")]
    NotDirectory(u32),
    /// The inode is not free, or there is none of this number.
    #[error("inode {0} is taken, or beyond the last group")]
    Taken(u32),
    /// The root directory stays.
    #[error("inode {ROOT} is the root directory")]
    Root,
}
