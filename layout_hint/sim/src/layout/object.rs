//! State of an object of the trace.

use super::cluster::Stream;
use super::trace::What;

/// An object, before it is made, while it is there, and after.
#[derive(Clone, Copy, Debug, Default)]
pub struct Object {
    /// Its inode; 0: it does not exist.
    pub inode: u32,
    /// Its kind.
    pub what: What,
    /// Names that lead to it.
    pub links: u32,
    /// Removed names that are still on the disk.
    pub held: u32,
    /// Time of creation.
    pub stamp: u32,
    /// A directory's number among directories.
    pub directory: u32,
    /// A directory's parent.
    pub parent: u32,
    /// Its greatest length in bytes.
    pub most: u64,
    /// Its write pattern.
    pub stream: Stream,
}
