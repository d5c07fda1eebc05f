//! Names made and removed: link, rename, remove and rmdir.

use super::columns::Columns;
use super::inodes::{Found, Key};
use super::life::{Birth, Death, End, How, Inode, NameLife, Operation};
use super::rows::NameRow;
use super::Lives;
use birthmark_columns::bytes;
use birthmark_trace::schema::Op;
use std::sync::Arc;

impl Lives {
    pub(super) fn remove(
        &mut self,
        columns: &Columns,
        row: usize,
        op: &Operation,
        procedure: Op,
        dir: &Key,
    ) {
        self.name_file(op, dir, &columns.dir.get(row));
        let Some(name) = bytes(columns.name, row) else {
            return;
        };
        let how = match procedure {
            Op::Rmdir => End::Rmdir,
            _ => End::Remove,
        };
        match self.inodes.by_name(dir, name) {
            Some(found) => self.end_name(op, found, how, how),
            None => self.bury_stranger(op, dir, name, how),
        }
    }

    pub(super) fn rename(&mut self, columns: &Columns, row: usize, op: &Operation, from: &Key) {
        self.name_file(op, from, &columns.dir.get(row));
        let walked = self.walk.second();
        let to = bytes(columns.fh2, row).or(walked.as_deref());
        let Some(to) = to.map(|to| self.inodes.key(op.server, to)) else {
            return;
        };
        let one_directory = to.handle == from.handle;
        if !one_directory {
            self.name_file(op, &to, &columns.dir2.get(row));
        }
        let (Some(old), Some(new)) = (bytes(columns.name, row), bytes(columns.name2, row)) else {
            return;
        };
        let source = self.inodes.by_name(from, old);
        let target = self.inodes.by_name(&to, new);
        let same = one_directory && old == new;
        let linked = source.zip(target).is_some_and(|(s, t)| s.slot == t.slot);
        if same || linked {
            // two names of one file, which both stay (RFC 1813 section 3.3.14)
            return self.confirm(op, source, target);
        }
        if let Some(target) = target {
            self.end_name(op, target, End::Overwritten, End::Rename);
        }
        self.move_name(op, source, (from, old), (&to, new));
    }

    pub(super) fn link(&mut self, columns: &Columns, row: usize, op: &Operation, fh: &Key) {
        let walked = self.walk.second();
        let dir = bytes(columns.fh2, row).or(walked.as_deref());
        let dir = dir.map(|dir| self.inodes.key(op.server, dir));
        if let Some(dir) = &dir {
            self.name_file(op, dir, &columns.dir.get(row));
        }
        let known = self.inodes.by_handle(fh);
        let before = known.map(|slot| self.inodes.get(slot).life.links_changed);
        let attributes = columns.object.get(row);
        let Some(slot) = self.name_file(op, fh, &attributes) else {
            return;
        };
        let (Some(dir), Some(name)) = (dir, bytes(columns.name, row)) else {
            return;
        };
        let birth = Birth::new(op, How::Link, None);
        if let Some(found) = self.inodes.by_name(&dir, name) {
            let inode = self.inodes.get_mut(found.slot);
            let seen = &mut inode.names[found.index];
            if found.slot == slot && seen.appeared_during(op) {
                seen.birth = Some(birth); // a lookup overtook the reply, and showed nlink
                return self.name_born(slot, found.index);
            }
            self.lose_name(found);
        }
        let life = &mut self.inodes.get_mut(slot).life;
        if attributes.nlink.is_none() || before.is_some_and(|changed| op.time < changed) {
            life.nlink = life.nlink.map(|n| n.saturating_add(1));
        }
        life.links_changed = op.at;
        self.give_name(op, slot, &dir, name, Some(birth));
    }

    /// Ends the old name, and gives the file the new one.
    fn move_name(
        &mut self,
        op: &Operation,
        source: Option<Found>,
        (from, old): (&Key, &[u8]),
        (to, new): (&Key, &[u8]),
    ) {
        let slot = match source {
            Some(found) => {
                self.bury_name(op, found, End::Rename);
                found.slot
            }
            None => {
                self.bury_stranger(op, from, old, End::Rename);
                self.inodes.insert(Inode::new(op, None))
            }
        };
        let birth = Birth::new(op, How::Rename, None);
        self.give_name(op, slot, to, new, Some(birth));
    }

    /// Records names that an operation showed to exist.
    fn confirm(&mut self, op: &Operation, source: Option<Found>, target: Option<Found>) {
        for found in [source, target].into_iter().flatten() {
            let inode = self.inodes.get_mut(found.slot);
            inode.names[found.index].last_seen = op.at;
        }
        if let Some(found) = source {
            self.inodes.get_mut(found.slot).life.named(op, &Default::default(), &self.gaps);
        }
    }

    /// Ends a name that was never seen.
    fn bury_stranger(&mut self, op: &Operation, dir: &Key, name: &[u8], how: End) {
        let hash = self.inodes.name_hash(dir, name);
        self.recent.ended(hash, op.at);
        let life = NameLife::new(op, self.inodes.share(dir), Arc::from(name), None);
        let death = Death { at: op.at, how };
        let nobody = Inode::new(op, None);
        self.end(NameRow::new(&nobody, life, Some(death), op.at));
    }
}
