//! File lives and name lives: from operations to the files and names tables.
//!
//! A server's file system is hidden behind its NFS traffic; its active part is reconstructed from
//! calls and replies (thesis 3.5.1). The rules, where the thesis leaves them open:
//!
//! - Only the reply of a successful operation changes anything, with two exceptions: "no such
//!   entry" (status 2) for a known name shows that the name is gone, and "stale handle" (status 70)
//!   that the file is. Neither shows the time: such an end is not a death seen, and the life is
//!   observed until the last reply that showed it.
//! - A birth of a file whose handle is that of a living one shows that the latter's death was
//!   missed. So does a handle whose file type has changed.
//! - Two overlapping calls may have been executed in either order. If a call was sent before the
//!   reply that ended something (or last showed it), its own reply does not revive it (or end it):
//!   see [`recent`].
//! - Within a compound of NFS version 4 a name leads to the file that last had it, if the trace
//!   does not show the handle: see [`walk`].
//! - Reads and writes by the handle of a data server count for the file whose layout names it: see
//!   [`layouts`].
//! - A file dies with its last name. The number of names is known from `nlink`, from its birth, and
//!   from the names made and removed since; a directory has one. A file whose last known name is
//!   gone without showing its death (its `nlink` was never seen, or the name was lost unseen) is
//!   observed only until it was last seen. The same holds for a name whose directory is gone.

mod births;
mod columns;
pub mod directories;
mod early;
mod ends;
pub mod events;
mod filter;
mod gaps;
mod hosts;
mod inodes;
mod layouts;
mod life;
mod links;
mod losses;
mod pending;
mod recent;
mod rows;
mod runs;
mod saved;
mod scratch;
mod seen;
mod spill;
mod walk;
mod young;

pub use gaps::NEAR;
pub use spill::Error as SpillError;

use crate::snapshot::SnapshotError;
use arrow_array::RecordBatch;
use arrow_schema::ArrowError;
use birthmark_columns::{bytes, get, ColumnError};
use birthmark_trace::budget::{Budget, Part};
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
/// The most known names of one file at a time.
const NAMES: usize = 1024;
/// Lives outlasting the trace that become rows at a time.
const CHUNK: usize = 1 << 14;

/// Why a batch of operations was refused.
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

/// Takes operations in the order of their replies, and gives lives as they end.
#[derive(Default)]
pub struct Lives {
    most: usize,
    budget: Budget,
    inodes: Inodes,
    recent: Recent,
    walk: Walk,
    servers: Interner,
    clients: Interner,
    /// The last time of each server's trace.
    ends: Vec<i64>,
    gaps: Gaps,
    unanswered: Unanswered,
    /// Whether gaps are known for all operations.
    gaps_known: Option<bool>,
    files: Ended<FileRow>,
    names: Ended<NameRow>,
    /// The number of names dropped from files with too many.
    lost_names: u64,
    /// Events of births and outcomes, if enabled.
    events: Option<Box<Events>>,
    /// Changes of directories, if enabled.
    directories: Named,
    finished: bool,
}

impl Lives {
    /// Returns lives that hold about `most` files and names in memory; the rest are in a temporary
    /// file until they are named again. Losses within `near` microseconds count as near.
    pub fn new(most: usize, near: i64) -> Lives {
        Lives { most, gaps: Gaps::new(near), ..Lives::default() }.with_budget(Budget::default())
    }

    /// Applies a memory budget from now on.
    pub fn with_budget(mut self, budget: Budget) -> Lives {
        self.budget = budget;
        self.files.limit(budget);
        self.names.limit(budget);
        self.gaps.limit(budget);
        self.unanswered.limit(budget);
        self
    }

    /// Returns empty lives with the same limits.
    pub fn with_same_limits(&self) -> Lives {
        Lives::new(self.most, self.gaps.reach()).with_budget(self.budget)
    }

    /// The numbers of entries evicted early for lack of memory: pending rows, unanswered calls,
    /// names of a file with too many.
    pub fn evicted(&self) -> [(&'static str, u64); 3] {
        [
            ("ended", self.files.evicted + self.names.evicted),
            ("unanswered", self.unanswered.evicted),
            ("names", self.lost_names),
        ]
    }

    /// Takes a batch of operations.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        if self.finished {
            return Err(Error::Finished);
        }
        let columns = Columns::new(batch, &mut self.servers, &mut self.clients, self.budget)?;
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
            self.inodes.spill_excess((self.most, self.budget.share(Part::Lives)))?;
        }
        Ok(self.inodes.check()?)
    }

    /// Ends the trace: the lives that outlast it become rows.
    pub fn finish(&mut self) {
        self.advance(self.gaps.now().saturating_add(1));
        self.finished = true;
    }

    /// The rows of the files that ended a minute ago or more, so that they are final. After
    /// [`Lives::finish`] it gives some of the rest; a batch without rows is the last.
    pub fn take_files(&mut self) -> Result<RecordBatch, Error> {
        let rows = self.settled(|lives| &mut lives.files)?;
        Ok(rows::files(&rows, &self.servers, &self.clients)?)
    }

    /// The rows of the names, as [`Lives::take_files`] for files.
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
            if !self.on_data_server(columns, row, op, procedure, fh) {
                let fh = self.inodes.key(op.server, fh);
                self.done(columns, row, op, procedure, &fh);
            }
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
            Op::Layoutget => self.lay_out(columns, row, op, fh),
            Op::Layoutcommit => self.commit_layout(columns, row, op, fh),
            Op::Null | Op::Root | Op::Writecache | Op::Compound => {}
            // these only select the object of others
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
        // the error does not say which of two handles is stale
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
