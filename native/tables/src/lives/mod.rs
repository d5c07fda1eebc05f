//! File lives and name lives: from operations to the files and names tables.
//!
//! A server's file system is hidden behind its NFS traffic; its active part is reconstructed from
//! what calls ask and replies show (thesis 3.5.1). The rules, where the thesis leaves them open:
//!
//! - Only what a successful operation's reply shows changes anything, with two exceptions: "no
//!   such entry" (status 2) for a name that was known shows that the name is gone, and "stale
//!   handle" (status 70) that the file is. Neither shows when: such an end is not a death seen,
//!   and the life is observed until the last reply that showed it.
//! - A birth of a file whose handle is that of a living one shows that the latter's death was
//!   missed. So does a handle whose file type has changed.
//! - Two calls that were under way at the same time may have been done in either order. Where a
//!   call was sent before the reply that ended something (or last showed it), its own reply does
//!   not revive it (or end it): see [`recent`].
//! - Within a compound of NFS version 4 a name leads to the file that had it when it was seen last,
//!   where the trace does not show the handle: see [`walk`].
//! - A file dies with its last name. How many it has is known from `nlink`, from its birth, and
//!   from the names made and removed since; a directory has one. A file whose last known name is
//!   gone without that showing its death (its `nlink` was never seen, or the name was lost unseen)
//!   is observed only until it was last seen, and so is a name whose directory is gone.

mod births;
mod columns;
pub mod directories;
mod early;
mod ends;
pub mod events;
mod filter;
mod gaps;
mod inodes;
mod life;
mod links;
mod losses;
mod recent;
mod rows;
mod runs;
mod saved;
mod seen;
mod spill;
mod waiting;
mod walk;
mod young;

pub use gaps::NEAR;
pub use spill::Error as SpillError;

use crate::snapshot::SnapshotError;
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use birthmark_trace::columns::{bytes, get, ColumnError};
use birthmark_trace::message::Interner;
use birthmark_trace::schema::Op;
use columns::Columns;
use directories::Named;
use events::Events;
use gaps::{Gaps, Unanswered};
use inodes::{Inodes, Key};
use life::Operation;
use losses::Ended;
use recent::Recent;
use rows::{FileRow, NameRow};
use walk::Walk;

/// NFS3ERR_NOENT, and NFSERR_NOENT of version 2.
const NO_ENTRY: u32 = 2;
/// NFS3ERR_STALE, and NFSERR_STALE of version 2.
const STALE: u32 = 70;
/// How many lives that outlast the trace are made rows at a time.
const CHUNK: usize = 1 << 14;

/// Why a batch of operations could not be taken.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum Error {
    #[error(transparent)]
    Column(#[from] ColumnError),
    #[error("operations: a batch came after the end of the trace")]
    Finished,
    #[error(transparent)]
    Arrow(#[from] ArrowError),
    #[error(transparent)]
    Spill(#[from] SpillError),
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

/// Takes operations in the order of their replies, gives lives as they end.
#[derive(Default)]
pub struct Lives {
    most: usize,
    inodes: Inodes,
    recent: Recent,
    walk: Walk,
    servers: Interner,
    clients: Interner,
    /// The last time of each server's trace.
    ends: Vec<i64>,
    gaps: Gaps,
    unanswered: Unanswered,
    /// Whether it is told when calls were lost.
    told: Option<bool>,
    files: Ended<FileRow>,
    names: Ended<NameRow>,
    /// What is told of births and outcomes, if it is.
    events: Option<Box<Events>>,
    /// What is told of directories, if it is.
    directories: Named,
    finished: bool,
}

impl Lives {
    /// Lives of which about `most`, files and names together, are kept in memory; the rest go to
    /// a temporary file until they are named again. Losses within so many microseconds are near.
    pub fn new(most: usize, near: i64) -> Lives {
        Lives { most, gaps: Gaps::new(near), ..Lives::default() }
    }

    /// Lives of which none is known, with the same limits.
    pub fn anew(&self) -> Lives {
        Lives::new(self.most, self.gaps.reach())
    }

    /// Takes a batch of operations.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        if self.finished {
            return Err(Error::Finished);
        }
        let columns = Columns::new(batch, &mut self.servers, &mut self.clients)?;
        self.ends.resize(self.servers.names().len(), i64::MIN);
        for row in 0..batch.num_rows() {
            let op = columns.operation(row);
            let end = &mut self.ends[op.server as usize];
            *end = (*end).max(op.at).max(op.time);
            self.walk.begin(columns.version4.as_ref().and_then(|v4| get(v4.compound_index, row)));
            self.gaps.advance(op.at.max(op.time));
            self.advance(self.gaps.now());
            match get(columns.status, row) {
                Some(0) => self.succeeded(&columns, row, &op),
                Some(NO_ENTRY) => self.no_entry(&columns, row, &op),
                Some(STALE) => self.stale(&columns, row, &op),
                None if columns.unanswered(row) => self.lost_reply(&columns, row, &op),
                _ => {}
            }
            self.inodes.shed(self.most)?;
        }
        Ok(self.inodes.check()?)
    }

    /// Ends the trace: the lives that outlast it become rows.
    pub fn finish(&mut self) {
        self.advance(self.gaps.now().saturating_add(1));
        self.finished = true;
    }

    /// The rows of the files that ended a minute ago or more, so that all is known of their end.
    /// After [`Lives::finish`] it gives some of those that are left; a batch without rows says that
    /// it has given all.
    pub fn take_files(&mut self) -> Result<RecordBatch, Error> {
        let rows = self.settled(|lives| &mut lives.files)?;
        Ok(rows::files(&rows, &self.servers, &self.clients)?)
    }

    /// The rows of the names, as [`Lives::take_files`] gives those of the files.
    pub fn take_names(&mut self) -> Result<RecordBatch, Error> {
        let rows = self.settled(|lives| &mut lives.names)?;
        Ok(rows::names(&rows, &self.servers, &self.clients)?)
    }

    #[inline]
    fn succeeded(&mut self, columns: &Columns, row: usize, op: &Operation) {
        let Some(procedure) = columns.op(row) else {
            return;
        };
        let walked = self.walk.first(procedure);
        if let Some(fh) = bytes(columns.fh, row).or(walked.as_deref()) {
            let fh = self.inodes.key(op.server, fh);
            self.done(columns, row, op, procedure, &fh);
        }
        self.go_on(columns, row, op, procedure);
    }

    #[inline]
    fn done(&mut self, columns: &Columns, row: usize, op: &Operation, procedure: Op, fh: &Key) {
        match procedure {
            Op::Lookup | Op::Lookupp => self.lookup(columns, row, op, fh),
            Op::Open if get(columns.how, row).is_none() => self.lookup(columns, row, op, fh),
            Op::Close => self.close(columns, row, op, fh),
            Op::Read | Op::ReadPlus => self.read(columns, row, op, fh),
            Op::Write => self.write(columns, row, op, fh),
            Op::Setattr => self.setattr(columns, row, op, fh),
            Op::Create | Op::Open | Op::Mkdir | Op::Symlink | Op::Mknod => {
                self.create(columns, row, op, procedure, fh)
            }
            Op::Remove | Op::Rmdir => self.remove(columns, row, op, procedure, fh),
            Op::Rename => self.rename(columns, row, op, fh),
            Op::Link => self.link(columns, row, op, fh),
            Op::Readdir | Op::Readdirplus => self.list(columns, row, op, fh),
            Op::Null | Op::Root | Op::Writecache | Op::Compound => {}
            // these only say on what others work
            Op::Putfh | Op::Putpubfh | Op::Putrootfh | Op::Getfh | Op::Savefh | Op::Restorefh => {}
            _ => {
                self.name_file(op, fh, &columns.object.get(row));
            }
        }
    }

    fn no_entry(&mut self, columns: &Columns, row: usize, op: &Operation) {
        let Some(procedure) = columns.op(row) else {
            return;
        };
        let named = match procedure {
            Op::Lookup | Op::Remove | Op::Rmdir | Op::Rename => true,
            Op::Open => get(columns.how, row).is_none(),
            _ => false,
        };
        let walked = self.walk.first(procedure);
        let dir = bytes(columns.fh, row).or(walked.as_deref());
        let (Some(dir), Some(name)) = (dir, bytes(columns.name, row)) else {
            return;
        };
        let dir = self.inodes.key(op.server, dir);
        if let Some(found) = self.inodes.by_name(&dir, name).filter(|_| named) {
            if op.time >= self.inodes.get(found.slot).names[found.index].last_seen {
                self.lose_name(found);
            }
        }
    }

    fn stale(&mut self, columns: &Columns, row: usize, op: &Operation) {
        // of a rename's or a link's two handles it does not say which
        let two = matches!(columns.op(row), Some(Op::Rename | Op::Link | Op::Copy | Op::Clone));
        let single = !two && columns.op(row).is_some();
        let Some(fh) = bytes(columns.fh, row).filter(|_| single) else {
            return;
        };
        if let Some(slot) = self.inodes.by_handle(&self.inodes.key(op.server, fh)) {
            if op.time >= self.inodes.get(slot).life.last_seen {
                self.lose_file(slot);
            }
        }
    }
}
