//! Existing files in replies: their use, attributes and names.

use super::columns::Columns;
use super::events::Subject;
use super::inodes::{Found, Key, Slot};
use super::life::{Attributes, Birth, Bytes, DirName, Inode, Kind, NameLife, Operation, Origin};
use super::{Lives, NAMES};
use birthmark_columns::{bytes, get};
use std::sync::Arc;

impl Lives {
    pub(super) fn lookup(&mut self, columns: &Columns, row: usize, op: &Operation, dir: &Key) {
        self.name_file(op, dir, &columns.dir.get(row));
        let Some(fh) = bytes(columns.new_fh, row).map(|fh| self.inodes.key(op.server, fh)) else {
            return;
        };
        if fh.handle != dir.handle {
            let attributes = columns.object.get(row);
            self.name_file(op, &fh, &attributes);
            if let Some(name) = bytes(columns.name, row) {
                self.see_name(op, dir, name, &fh, &attributes);
            }
        }
    }

    /// A client of version 4 closes a file.
    pub(super) fn close(&mut self, columns: &Columns, row: usize, op: &Operation, fh: &Key) {
        if let Some(slot) = self.name_file(op, fh, &columns.object.get(row)) {
            let life = &mut self.inodes.get_mut(slot).life;
            life.last_closed = life.last_closed.max(Some(op.at));
        }
    }

    /// A readdir or readdirplus. Entries without a handle only confirm known names.
    pub(super) fn list(&mut self, columns: &Columns, row: usize, op: &Operation, dir: &Key) {
        self.name_file(op, dir, &columns.dir.get(row));
        for entry in columns.entries.of(row) {
            let Some(name) = bytes(columns.entries.name, entry) else {
                continue;
            };
            if let Some(fh) = bytes(columns.entries.fh, entry) {
                let fh = self.inodes.key(op.server, fh);
                let attributes = columns.entries.attributes.get(entry);
                if fh.handle != dir.handle {
                    self.name_file(op, &fh, &attributes);
                    self.see_name(op, dir, name, &fh, &attributes);
                }
            } else if let Some(found) = self.inodes.by_name(dir, name) {
                let name = &mut self.inodes.get_mut(found.slot).names[found.index];
                name.last_seen = name.last_seen.max(op.at);
            }
        }
    }

    pub(super) fn read(&mut self, columns: &Columns, row: usize, op: &Operation, fh: &Key) {
        if let Some(slot) = self.name_file(op, fh, &columns.object.get(row)) {
            let bytes = get(columns.reply_count, row).unwrap_or(0);
            self.inodes.get_mut(slot).life.was_read(op.at, bytes.into());
        }
    }

    pub(super) fn write(&mut self, columns: &Columns, row: usize, op: &Operation, fh: &Key) {
        let attributes = columns.object.get(row);
        if let Some(slot) = self.name_file(op, fh, &attributes) {
            let (bytes, end) = columns.written(row);
            let life = &mut self.inodes.get_mut(slot).life;
            life.wrote(op.at, bytes, end, attributes.size);
        }
    }

    pub(super) fn setattr(&mut self, columns: &Columns, row: usize, op: &Operation, fh: &Key) {
        if let Some(slot) = self.name_file(op, fh, &columns.object.get(row)) {
            self.resized(op, slot, get(columns.set_size, row));
        }
    }

    /// Records a size that a call set.
    pub(super) fn resized(&mut self, op: &Operation, slot: Slot, size: Option<u64>) {
        if let Some(size) = size {
            self.inodes.get_mut(slot).life.sized(op.at, size);
        }
    }

    /// Records an operation that named a file by its handle, with the attributes in the reply. None
    /// if the reply may be older than the file's end.
    #[inline]
    pub(super) fn name_file(
        &mut self,
        op: &Operation,
        fh: &Key,
        attributes: &Attributes,
    ) -> Option<Slot> {
        let mut known = self.inodes.by_handle(fh);
        if let Some(slot) = known {
            let kind = self.inodes.get(slot).life.kind;
            if kind.is_some() && attributes.kind.is_some() && kind != attributes.kind {
                self.lose_file(slot);
                known = None;
            }
        } else if self.recent.ended_since(fh.hash, op.time) {
            return None;
        }
        let slot = match known {
            Some(slot) => slot,
            None => self.inodes.insert(Inode::new(op, Some(Arc::from(fh.handle)))),
        };
        self.inodes.get_mut(slot).life.named(op, attributes, &self.gaps);
        Some(slot)
    }

    /// Records that a reply showed a living file under a name.
    pub(super) fn see_name(
        &mut self,
        op: &Operation,
        dir: &Key,
        name: &[u8],
        fh: &Key,
        attributes: &Attributes,
    ) {
        let slot = match self.inodes.by_name(dir, name) {
            Some(found) => {
                let inode = self.inodes.get_mut(found.slot);
                let seen = &mut inode.names[found.index];
                match &inode.handle {
                    Some(handle) if **handle == *fh.handle => {
                        seen.last_seen = seen.last_seen.max(op.at);
                        return;
                    }
                    None => self.identify(op, found.slot, fh),
                    Some(_) if op.time < seen.last_seen => return,
                    Some(_) => {
                        self.lose_name(found);
                        self.show_name(op, dir, name, fh)
                    }
                }
            }
            None => self.show_name(op, dir, name, fh),
        };
        let Some(slot) = slot else {
            return;
        };
        // its known name must be gone if this is its only one
        let kind = self.inodes.get(slot).life.kind;
        if attributes.nlink == Some(1) || kind == Some(Kind::Directory) {
            self.lose_other_names(slot);
        }
    }

    /// Adds an unknown name. None if the reply may be older than the name's end.
    fn show_name(&mut self, op: &Operation, dir: &Key, name: &[u8], fh: &Key) -> Option<Slot> {
        let slot = self.inodes.by_handle(fh)?;
        let ended = self.recent.ended_since(self.inodes.name_hash(dir, name), op.time);
        if ended || name == b"." || name == b".." {
            return None;
        }
        self.give_name(op, slot, dir, name, None);
        Some(slot)
    }

    /// Sets the handle of a file known only by name. If the handle was known before the name was
    /// made, a create opened the file rather than made it.
    fn identify(&mut self, op: &Operation, nameless: Slot, fh: &Key) -> Option<Slot> {
        let mut found = self.inodes.remove(nameless);
        if let Some(known) = self.inodes.by_handle(fh) {
            let mut inode = self.inodes.remove(known);
            if inode.life.first_seen < found.life.first_seen && found.life.birth.is_some() {
                for name in &mut found.names {
                    let birth = name.birth.take();
                    self.unborn(Subject::Name, birth);
                }
                let birth = found.life.birth.take();
                self.unborn(Subject::File, birth);
            } else if inode.life.birth.is_some() {
                self.unborn(Subject::File, found.life.birth);
            }
            inode.life.continue_from(found.life, op.at);
            inode.names.append(&mut found.names);
            inode.data.append(&mut found.data);
            found = inode;
        }
        found.handle = Some(Arc::from(fh.handle));
        for name in &mut found.names {
            name.last_seen = name.last_seen.max(op.at);
        }
        let slot = self.inodes.insert(found);
        self.directories.named(&self.inodes, slot);
        Some(slot)
    }

    /// Gives a file a name.
    pub(super) fn give_name(
        &mut self,
        op: &Operation,
        slot: Slot,
        dir: &Key,
        name: &[u8],
        birth: Option<Birth>,
    ) {
        let dir_handle = self.inodes.share(dir);
        let life = NameLife::new(op, dir_handle, self.share_name(slot, name), birth);
        if self.inodes.get(slot).life.origin.is_none() {
            let origin = Origin {
                name: life.name.clone(),
                dir: life.dir.clone(),
                dir_name: self.dir_name(dir),
            };
            self.inodes.get_mut(slot).life.origin = Some(origin);
        }
        let born = birth.is_some();
        while self.inodes.get(slot).names.len() >= NAMES {
            self.lost_names += 1;
            self.lose_name(Found { slot, index: 0 });
        }
        self.inodes.add_name(slot, life);
        self.directories.named(&self.inodes, slot);
        if born {
            self.name_born(slot, self.inodes.get(slot).names.len() - 1);
        }
    }

    fn dir_name(&mut self, dir: &Key) -> Option<DirName> {
        let slot = self.inodes.by_handle(dir)?;
        let name = self.inodes.get(slot).names.last()?;
        Some(DirName { name: name.name.clone(), seen: name.first_seen })
    }

    fn share_name(&self, slot: Slot, name: &[u8]) -> Bytes {
        match &self.inodes.get(slot).life.origin {
            Some(origin) if *origin.name == *name => origin.name.clone(),
            _ => Arc::from(name),
        }
    }
}
