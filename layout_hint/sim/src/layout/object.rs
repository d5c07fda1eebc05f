//! What a run knows of an object of the trace.

use super::cluster::Stream;
use super::trace::What;

/// An object, before it is made, while it is there, and after.
#[derive(Clone, Copy, Debug, Default)]
pub struct Object {
    /// Its inode; 0: it is not there.
    pub inode: u32,
    /// What it is.
    pub what: What,
    /// Names that lead to it.
    pub links: u32,
    /// Names that lead to it no more, but on the disk.
    pub held: u32,
    /// When it was made.
    pub stamp: u32,
    /// A directory's number among directories.
    pub directory: u32,
    /// A directory's parent.
    pub parent: u32,
    /// The most bytes that it had.
    pub most: u64,
    /// How it is written.
    pub stream: Stream,
}
