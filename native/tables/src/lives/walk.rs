//! The current and saved object of a compound of NFS version 4, if the trace does not show it.
//!
//! A client that goes by paths looks up several names in one compound and asks only for the last
//! one's handle. The directories on the way are those that last had these names.

use super::columns::Columns;
use super::life::{Bytes, Operation};
use super::Lives;
use birthmark_columns::bytes;
use birthmark_trace::schema::Op;
use serde::{Deserialize, Serialize};

/// The current and the saved file of a compound, if known only by their names. The operations table
/// has the others.
#[derive(Default, Serialize, Deserialize)]
pub struct Walk {
    next: Option<u32>,
    current: Option<Bytes>,
    saved: Option<Bytes>,
}

impl Walk {
    /// Begins a row: the index of the operation in its compound.
    #[inline]
    pub fn begin(&mut self, index: Option<u32>) {
        if index.is_none() && self.next.is_none() {
            return;
        }
        if index == Some(0) || index != self.next {
            (self.current, self.saved) = (None, None);
        }
        self.next = index.map(|index| index.wrapping_add(1));
    }

    /// The object of an operation's first handle, if the table lacks it.
    #[inline]
    pub fn first(&self, op: Op) -> Option<Bytes> {
        match op {
            Op::Rename | Op::Link => self.saved.clone(),
            _ => self.current.clone(),
        }
    }

    /// The object of its second handle.
    pub fn second(&self) -> Option<Bytes> {
        self.current.clone()
    }
}

impl Lives {
    /// Advances after a successful operation.
    #[inline]
    pub(super) fn go_on(&mut self, columns: &Columns, row: usize, op: &Operation, procedure: Op) {
        if self.walk.next.is_none() {
            return;
        }
        match procedure {
            Op::Lookup => self.walk.current = self.step(columns, row, op),
            Op::Putfh | Op::Putpubfh | Op::Putrootfh | Op::Lookupp => self.walk.current = None,
            Op::Open | Op::Openattr => self.walk.current = None,
            Op::Mkdir | Op::Symlink | Op::Mknod => self.walk.current = None,
            Op::Savefh => self.walk.saved = self.walk.current.clone(),
            Op::Restorefh => self.walk.current = self.walk.saved.clone(),
            _ => {}
        }
    }

    /// The file that a name leads to, if the trace does not show its handle here.
    fn step(&mut self, columns: &Columns, row: usize, op: &Operation) -> Option<Bytes> {
        if bytes(columns.new_fh, row).is_some() {
            return None;
        }
        let walked = self.walk.first(Op::Lookup);
        let dir = bytes(columns.fh, row).or(walked.as_deref())?;
        let dir = self.inodes.key(op.server, dir);
        let found = self.inodes.by_name(&dir, bytes(columns.name, row)?)?;
        let inode = self.inodes.get_mut(found.slot);
        let name = &mut inode.names[found.index];
        name.last_seen = name.last_seen.max(op.at);
        inode.life.last_seen = inode.life.last_seen.max(op.at);
        inode.handle.clone()
    }
}
