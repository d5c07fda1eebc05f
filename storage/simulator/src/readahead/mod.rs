//! Detection of sequential reads by a server, for reading ahead.
//!
//! A [`Heuristic`] sees each read of each file, and returns how sequentially the file is read: the
//! count that controls reading ahead in [`crate::cluster`]. It consists of a [`Rule`] for one file,
//! and a store of the rule's state: a [`Table`], which ejects (`nfsheur`), or one state for every
//! file ([`PerFile`]).
//!
//! - [`Default4`]: FreeBSD 4's.
//! - [`Always`]: all reads are sequential.
//! - [`SlowDown`], [`Cursors`]: Ellard and Seltzer, "NFS Tricks and Benchmarking Traps", FREENIX 2003.
//! - [`Pool`]: their cursors, shared by all files.
//! - [`Reorder`]: Ellard's thesis, chapter 5: reads are put in order for a while first.
//! - [`FreeBsd9`]: FreeBSD's since 2011.
//!
//! Others have no count, and decide themselves what to read ahead ([`Ahead`]):
//!
//! - [`Linux`]: the page cache's, with the limits that NFS mounts had and have.
//! - [`Zfetch`]: OpenZFS's streams.

mod always;
mod choice;
mod cursor;
mod default4;
mod freebsd9;
mod linux;
mod pool;
mod reorder;
mod rounds;
mod slowdown;
mod table;
#[cfg(test)]
mod tests;
mod zfetch;

pub use always::Always;
pub use choice::Choice;
pub use cursor::{Cursor, Cursors};
pub use default4::Default4;
pub use freebsd9::FreeBsd9;
pub use linux::Linux;
pub use pool::Pool;
pub use reorder::{sequential, Reorder};
pub use rounds::ejections;
pub use slowdown::SlowDown;
pub use table::{Slots, Table, TableRules, Victim};
pub use zfetch::{Zfetch, ZfetchRules};

use std::collections::HashMap;
use std::ops::Range;

/// The highest count, `IO_SEQMAX`.
pub const MOST: u32 = 127;

/// Greatest distance in bytes from the expected read for [`SlowDown`]: eight blocks of NFS.
pub const NEAR: u64 = 64 * 1024;

/// A read of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Its first byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Its arrival, in nanoseconds.
    pub at: u64,
}

impl Read {
    /// The byte behind its last.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes
    }
}

/// Measures how sequentially files are read.
pub trait Heuristic: Send + Sync {
    /// Record a read of a file, which came after all before; return the count, 0 to [`MOST`].
    fn seen(&mut self, file: u64, read: &Read) -> u32;

    /// Number of ejections of a file's state.
    fn ejected(&self) -> u64;
}

/// Measures how sequentially one file is read.
pub trait Rule: Send + Sync {
    /// The state of a file.
    type Known: Clone + Send + Sync;

    /// The state of an unknown file, right before a read of it.
    fn begin(&self, read: &Read) -> Self::Known;

    /// Record a read; return the count.
    fn seen(&self, known: &mut Self::Known, read: &Read) -> u32;
}

/// A rule for the files in a table.
#[derive(Clone, Debug)]
pub struct Tabled<R: Rule> {
    rule: R,
    table: Table<R::Known>,
}

impl<R: Rule> Tabled<R> {
    /// An empty table.
    pub fn new(rule: R, rules: TableRules) -> Self {
        Self { rule, table: Table::new(rules) }
    }
}

impl<R: Rule> Heuristic for Tabled<R> {
    fn seen(&mut self, file: u64, read: &Read) -> u32 {
        let known = self.table.entry(file, || self.rule.begin(read));
        self.rule.seen(known, read)
    }

    fn ejected(&self) -> u64 {
        self.table.ejected()
    }
}

/// A rule with a state for each file, like that of an open file.
#[derive(Clone, Debug)]
pub struct PerFile<R: Rule> {
    rule: R,
    known: HashMap<u64, R::Known>,
}

impl<R: Rule> PerFile<R> {
    /// No file is known.
    pub fn new(rule: R) -> Self {
        Self { rule, known: HashMap::new() }
    }
}

impl<R: Rule> Heuristic for PerFile<R> {
    fn seen(&mut self, file: u64, read: &Read) -> u32 {
        let known = self.known.entry(file).or_insert_with(|| self.rule.begin(read));
        self.rule.seen(known, read)
    }

    fn ejected(&self) -> u64 {
        0
    }
}

/// The bytes of files that are in memory, or on their way there.
pub trait Held {
    /// Whether a byte of a file is.
    fn held(&self, file: u64, byte: u64) -> bool;
}

/// A policy of reading ahead.
pub trait Ahead: Send + Sync {
    /// Record a read of a file; return the bytes to read into memory: none, if all worthwhile ones
    /// are there or on their way. The requested bytes are read in any case.
    fn read(&mut self, file: u64, read: &Read, held: &dyn Held) -> Range<u64>;
}
