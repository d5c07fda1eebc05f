//! Ends: deaths that the trace shows, and lives whose end it missed.

use super::inodes::{Found, Slot};
use super::life::{Death, End, Inode, Kind, NameLife, Operation};
use super::rows::{FileRow, NameRow};
use super::{Error, Lives, CHUNK};

impl Lives {
    /// Ends a name by an operation, and with its last name the file, for which the cause was
    /// `file_how`.
    pub(super) fn end_name(&mut self, op: &Operation, found: Found, how: End, file_how: End) {
        self.bury_name(op, found, how);
        let life = &mut self.inodes.get_mut(found.slot).life;
        life.links_changed = op.at;
        life.nlink = life.nlink.map(|n| n.saturating_sub(1));
        let one_name = life.kind == Some(Kind::Directory) || file_how == End::Rmdir;
        if one_name || life.nlink == Some(0) {
            let how = file_how;
            self.bury_file(found.slot, Death { at: op.at, how });
        } else {
            self.doubt(found.slot);
        }
    }

    /// Ends a name by an operation, without regard to the file.
    pub(super) fn bury_name(&mut self, op: &Operation, found: Found, how: End) {
        let name = self.take_name(found, op.at);
        let inode = self.inodes.get_mut(found.slot);
        inode.life.used(op, &self.gaps);
        let death = Death { at: op.at, how };
        if let Some(events) = &mut self.events {
            events.name_ended(self.gaps.now(), inode, name.birth, Some(op.at));
        }
        let row = NameRow::new(inode, name, Some(death), op.at);
        self.end(row);
    }

    /// Ends a name that vanished unseen.
    pub(super) fn lose_name(&mut self, found: Found) {
        let until = self.inodes.get(found.slot).names[found.index].last_seen;
        let name = self.take_name(found, until);
        let inode = self.inodes.get(found.slot);
        if let Some(events) = &mut self.events {
            events.name_ended(self.gaps.now(), inode, name.birth, None);
        }
        let row = NameRow::new(inode, name, None, until);
        self.end(row);
        self.doubt(found.slot);
    }

    /// Ends all names of a file but the latest.
    pub(super) fn lose_other_names(&mut self, slot: Slot) {
        while self.inodes.get(slot).names.len() > 1 {
            self.lose_name(Found { slot, index: 0 });
        }
    }

    /// Ends a file that vanished unseen, and its names.
    pub(super) fn lose_file(&mut self, slot: Slot) {
        let last_seen = self.inodes.get(slot).life.last_seen;
        let inode = self.forget(slot, last_seen, None);
        self.end_file(FileRow::new(inode, None, last_seen));
    }

    fn bury_file(&mut self, slot: Slot, death: Death) {
        let inode = self.forget(slot, death.at, Some(death.at));
        self.end_file(FileRow::new(inode, Some(death), death.at));
    }

    /// Removes a file with its names, which vanished at some earlier time.
    fn forget(&mut self, slot: Slot, at: i64, died: Option<i64>) -> Inode {
        let mut inode = self.inodes.remove(slot);
        if let Some(events) = &mut self.events {
            events.file_ended(self.gaps.now(), &inode, died);
            let births = inode.names.iter().map(|name| name.birth);
            births.for_each(|birth| events.name_ended(self.gaps.now(), &inode, birth, None));
        }
        if let Some(handle) = &inode.handle {
            self.recent.ended(self.inodes.key(inode.server, handle).hash, at);
        }
        for data in &inode.data {
            self.recent.ended(self.inodes.data_key(&data.handle).hash, at);
        }
        for name in std::mem::take(&mut inode.names) {
            let until = name.last_seen;
            self.end(NameRow::new(&inode, name, None, until));
        }
        inode
    }

    /// Handles a file that lost a name without showing its death.
    fn doubt(&mut self, slot: Slot) {
        let inode = self.inodes.get_mut(slot);
        if !inode.names.is_empty() {
            return;
        }
        inode.life.doubtful = true;
        if inode.handle.is_none() {
            let inode = self.inodes.remove(slot); // no name or handle is left
            if let Some(events) = &mut self.events {
                events.file_ended(self.gaps.now(), &inode, None);
            }
        }
    }

    fn take_name(&mut self, found: Found, at: i64) -> NameLife {
        let server = self.inodes.get(found.slot).server;
        let name = self.inodes.take_name(found);
        let dir = self.inodes.key(server, &name.dir);
        self.recent.ended(self.inodes.name_hash(&dir, &name.name), at);
        name
    }

    /// Makes rows of some of the lives that outlast an ended trace; returns false when none are
    /// left.
    pub(super) fn end_outlasting(&mut self) -> Result<bool, Error> {
        if !self.finished {
            return Ok(false);
        }
        let inodes = self.inodes.drain(CHUNK)?;
        let any = !inodes.is_empty();
        for inode in inodes {
            self.outlast(inode);
        }
        self.inodes.check()?;
        Ok(any)
    }

    fn outlast(&mut self, mut inode: Inode) {
        let end = self.ends[inode.server as usize];
        let mut placed = inode.names.is_empty();
        for name in std::mem::take(&mut inode.names) {
            let alive = self.inodes.alive(inode.server, &name.dir);
            let until = if alive { end } else { name.last_seen };
            placed |= alive;
            self.end(NameRow::new(&inode, name, None, until));
        }
        let doubtful = inode.life.doubtful || !placed;
        let until = if doubtful { inode.life.last_seen } else { end };
        self.end_file(FileRow::new(inode, None, until));
    }
}
