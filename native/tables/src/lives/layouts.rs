//! Files of pNFS (RFC 8881 section 12), whose data are on data servers.
//!
//! A client gets a file's layout from the metadata server. The layout names handles by which data
//! servers know the file, and the client reads and writes by them. Such a handle belongs to the
//! file, whichever server is asked, until the file ends or another file's layout names it. A data
//! server's attributes of its object are not the file's.

use super::columns::Columns;
use super::inodes::{Key, Slot};
use super::life::{Attributes, DataHandle, Operation, Writes};
use super::Lives;
use birthmark_columns::{bytes, get};
use birthmark_trace::schema::Op;
use std::sync::Arc;

/// `LAYOUT4_NFSV4_1_FILES` (RFC 8881 section 13).
const FILES: u32 = 1;
/// `NFL4_UFLG_DENSE`: a data server stores its stripes of the file contiguously.
const DENSE: u64 = 1;
/// The most data-server handles of a file; data behind further ones is attributed to unknown files.
const MOST: usize = 256;

impl Lives {
    /// A layoutget. If a file layout names no handles, data servers use the file's own.
    pub(super) fn lay_out(&mut self, columns: &Columns, row: usize, op: &Operation, fh: &Key) {
        let Some(slot) = self.name_file(op, fh, &columns.object.get(row)) else {
            return;
        };
        let layouts = columns.version4.as_ref().and_then(|v4| v4.layouts.as_ref());
        let Some(kind) = layouts.and_then(|layouts| get(layouts.layout_type, row)) else {
            return;
        };
        let unit = layouts.and_then(|layouts| get(layouts.stripe_unit, row)).unwrap_or(0);
        let mut handles = named(columns, row);
        if handles.is_empty() && kind == FILES {
            handles.push((fh.handle, 0));
        }
        let sparse = kind != FILES || unit & DENSE == 0 || handles.len() == 1;
        let counted = self.counted_mirror(slot, &handles);
        for (handle, mirror) in &handles {
            let several = handles.iter().any(|each| each.0 == *handle && each.1 != *mirror);
            let writes = match mirror {
                _ if several => Writes::OneServer(None),
                mirror if *mirror == counted => Writes::All,
                _ => Writes::None,
            };
            self.tie(slot, DataHandle { handle: Arc::from(*handle), writes, sparse });
        }
    }

    /// The mirror whose writes count: the one that counted before, else the first.
    fn counted_mirror(&self, slot: Slot, handles: &[(&[u8], u64)]) -> u64 {
        let known = &self.inodes.get(slot).data;
        let counts = |handle: &[u8]| {
            known.iter().any(|data| *data.handle == *handle && data.writes == Writes::All)
        };
        handles.iter().find(|(handle, _)| counts(handle)).map_or(0, |(_, mirror)| *mirror)
    }

    /// Assigns a data-server handle to a file, unless it has it already.
    fn tie(&mut self, slot: Slot, data: DataHandle) {
        if let Some(found) = self.inodes.by_data_handle(&data.handle) {
            if found.slot == slot {
                return;
            }
            self.inodes.take_data_handle(found);
        }
        if self.inodes.get(slot).data.len() < MOST {
            self.inodes.add_data_handle(slot, data);
        }
    }

    /// A layoutcommit: how far the client wrote to data servers.
    pub(super) fn commit_layout(
        &mut self,
        columns: &Columns,
        row: usize,
        op: &Operation,
        fh: &Key,
    ) {
        let attributes = columns.object.get(row);
        let Some(slot) = self.name_file(op, fh, &attributes) else {
            return;
        };
        let layouts = columns.version4.as_ref().and_then(|v4| v4.layouts.as_ref());
        let last = layouts.and_then(|layouts| get(layouts.last_offset, row));
        if let Some(last) = last {
            let life = &mut self.inodes.get_mut(slot).life;
            life.reached(op.at, Some(last.saturating_add(1)), attributes.size);
        }
    }

    /// Applies an operation on a data server's handle to the file whose data it holds; returns
    /// false if there is none. For operations other than reads and writes, a handle that the server
    /// itself has shown is its own file's.
    #[inline]
    pub(super) fn on_data_server(
        &mut self,
        columns: &Columns,
        row: usize,
        op: &Operation,
        procedure: Op,
        fh: &[u8],
    ) -> bool {
        self.inodes.has_data() && self.data_use(columns, row, op, procedure, fh)
    }

    fn data_use(
        &mut self,
        columns: &Columns,
        row: usize,
        op: &Operation,
        procedure: Op,
        fh: &[u8],
    ) -> bool {
        let moves_data = matches!(procedure, Op::Read | Op::ReadPlus | Op::Write | Op::Commit);
        let others = matches!(procedure, Op::Getattr | Op::Setattr | Op::Access);
        let key = self.inodes.key(op.server, fh);
        if !(moves_data || others && self.inodes.by_handle(&key).is_none()) {
            return false;
        }
        let Some(found) = self.inodes.by_data_handle(fh) else {
            return self.recent.ended_since(self.inodes.data_key(fh).hash, op.time);
        };
        let inode = self.inodes.get_mut(found.slot);
        if inode.server == op.server && inode.handle.as_deref() == Some(fh) {
            return false;
        }
        let end = &mut self.ends[inode.server as usize];
        *end = (*end).max(op.at);
        let at_its_server = Operation { server: inode.server, ..*op };
        inode.life.named(&at_its_server, &Attributes::default(), &self.gaps);
        match procedure {
            Op::Read | Op::ReadPlus => {
                let bytes = get(columns.reply_count, row).unwrap_or(0);
                inode.life.was_read(op.at, bytes.into());
            }
            Op::Write if inode.data[found.index].writes.count(op.server) => {
                let (bytes, end) = columns.written(row);
                let end = end.filter(|_| inode.data[found.index].sparse);
                inode.life.wrote(op.at, bytes, end, None);
            }
            _ => {}
        }
        true
    }
}

/// The handles in a layoutget's reply, and their mirrors.
fn named<'a>(columns: &Columns<'a>, row: usize) -> Vec<(&'a [u8], u64)> {
    let entries = &columns.entries;
    let mirror = |entry| entries.cookie.and_then(|cookie| get(cookie, entry)).unwrap_or(0);
    let handle = |entry| Some((bytes(entries.fh, entry)?, mirror(entry)));
    entries.of(row).take(MOST).filter_map(handle).collect()
}
