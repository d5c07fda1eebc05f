//! How a server notices that a file is read from one end to the other, so that it reads ahead.
//!
//! A [`Heuristic`] is told each read of each file, and says how sequentially the file is read: the
//! count that [`crate::cluster`] reads ahead by. It consists of a [`Rule`], which is of one file,
//! and of where the server keeps what the rule knows of each: a [`Table`], which ejects
//! (`nfsheur`), or beside every file ([`PerFile`]).
//!
//! - [`Default4`]: FreeBSD 4's.
//! - [`Always`]: all reads are sequential.
//! - [`SlowDown`], [`Cursors`]: Ellard and Seltzer, "NFS Tricks and Benchmarking Traps", FREENIX 2003.
//! - [`Pool`]: their cursors, shared by all files.
//! - [`Reorder`]: Ellard's thesis, chapter 5: reads are put in order for a while first.
//! - [`FreeBsd9`]: FreeBSD's since 2011.
//!
//! Others have no count, and say themselves what is read ahead ([`Ahead`]):
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

/// How near a read has to be to the expected one for [`SlowDown`], in bytes: eight blocks of NFS.
pub const NEAR: u64 = 64 * 1024;

/// A read of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Read {
    /// Its first byte.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// When it came, in nanoseconds.
    pub at: u64,
}

impl Read {
    /// The byte behind its last.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes
    }
}

/// Says how sequentially files are read.
pub trait Heuristic: Send + Sync {
    /// Take note of a read of a file, which came after all before; return the count, 0 to [`MOST`].
    fn seen(&mut self, file: u64, read: &Read) -> u32;

    /// How often what was known of a file had to make room for another.
    fn ejected(&self) -> u64;
}

/// How sequentially one file is read, as far as its reads tell.
pub trait Rule: Send + Sync {
    /// What is known of a file.
    type Known: Clone + Send + Sync;

    /// What is known of a file of which nothing is known, right before a read of it.
    fn begin(&self, read: &Read) -> Self::Known;

    /// Take note of a read; return the count.
    fn seen(&self, known: &mut Self::Known, read: &Read) -> u32;
}

/// A rule for the files that a table has room for.
#[derive(Clone, Debug)]
pub struct Tabled<R: Rule> {
    rule: R,
    table: Table<R::Known>,
}

impl<R: Rule> Tabled<R> {
    /// Nothing is known of any file.
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

/// A rule for all files: what is known is kept with each, as that of an open file is.
#[derive(Clone, Debug)]
pub struct PerFile<R: Rule> {
    rule: R,
    known: HashMap<u64, R::Known>,
}

impl<R: Rule> PerFile<R> {
    /// Nothing is known of any file.
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

/// Which bytes of files are in memory, or on their way there.
pub trait Held {
    /// Whether a byte of a file is.
    fn held(&self, file: u64, byte: u64) -> bool;
}

/// Says what is to be read of files beside what is asked for.
pub trait Ahead: Send + Sync {
    /// Take note of a read of a file; return which bytes to read into memory: none, if all that is
    /// worthwhile is there or on its way. What is asked for is read in any case.
    fn read(&mut self, file: u64, read: &Read, held: &dyn Held) -> Range<u64>;
}
