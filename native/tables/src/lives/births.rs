//! Births of files, with their first name.

use super::columns::Columns;
use super::inodes::{Key, Slot};
use super::life::{Attributes, Birth, How, Inode, Kind, Operation};
use super::Lives;
use arrow_array::Array;
use birthmark_columns::{bytes, get};
use birthmark_trace::schema::Op;
use std::sync::Arc;

/// `createmode3` (RFC 1813 section 3.3.8), and `createmode4` (RFC 8881 section 18.16.1), whose last
/// one carries attributes. A create of version 2 is unchecked.
const UNCHECKED: u8 = 0;
const GUARDED: u8 = 1;
const EXCLUSIVE: u8 = 2;
const EXCLUSIVE_WITH_ATTRIBUTES: u8 = 3;
/// The attributes that set a mode: `mode`, `mode_set_masked` and `mode_umask` (version 4).
const MODES: [usize; 3] = [33, 74, 81];
/// The permission bits of a mode.
const PERMISSIONS: u32 = 0o7777;
/// Equal times differ by less than this, microseconds: some file systems store whole seconds.
const SLACK: i64 = 2_000_000;

/// A call to make a file, and what the reply showed.
struct Creation<'a> {
    dir: &'a Key<'a>,
    name: &'a [u8],
    fh: Option<Key<'a>>,
    birth: Birth,
    kind: Option<Kind>,
    mode: u8,
    size: Option<u64>,
    /// The attributes in the reply.
    shown: Attributes,
    /// Whether the file and the directory look older than the call.
    shows_old: bool,
    /// Whether it was made, if the reply says so.
    made: Option<bool>,
}

impl Lives {
    pub(super) fn create(
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
        let mode = match procedure {
            Op::Create | Op::Open => get(columns.how, row).unwrap_or(UNCHECKED),
            _ => GUARDED,
        };
        let mut shown = columns.object.get(row);
        let shows_old = shows_old(columns, row, &shown);
        if mode >= EXCLUSIVE {
            // a server may keep the verifier in them until the setattr (RFC 1813 section 3.3.8)
            (shown.atime, shown.mtime) = (None, None);
        }
        let (how, kind) = kind_made(columns, row, procedure, &shown);
        let umask = columns.version4.as_ref().and_then(|v4| get(v4.set_umask, row)).unwrap_or(0);
        let permissions = get(columns.set_mode, row).filter(|_| mode != EXCLUSIVE);
        let creation = Creation {
            dir,
            name,
            fh: bytes(columns.new_fh, row).map(|fh| self.inodes.key(op.server, fh)),
            birth: Birth::new(op, how, permissions.map(|bits| bits & !umask & PERMISSIONS)),
            kind,
            mode,
            size: get(columns.set_size, row),
            shown,
            shows_old,
            made: made(columns, row),
        };
        if self.is_birth(op, &creation) {
            self.bear(op, &creation);
        } else {
            self.open(op, &creation);
        }
    }

    /// Whether a file was made, rather than an existing one opened. Knowledge gained during the
    /// call comes from a reply that overtook this one.
    fn is_birth(&mut self, op: &Operation, creation: &Creation) -> bool {
        let named = self.inodes.by_name(creation.dir, creation.name).is_some_and(|found| {
            let inode = self.inodes.get(found.slot);
            let handles = inode.handle.as_deref().zip(creation.fh.as_ref());
            let other = handles.is_some_and(|(known, fh)| *known != *fh.handle);
            !other && !inode.names[found.index].appeared_during(op)
        });
        let known = |lives: &mut Lives| {
            let slot = lives.inodes.by_handle(creation.fh.as_ref()?)?;
            Some(!lives.inodes.get(slot).life.appeared_during(op))
        };
        match (creation.mode, creation.made) {
            (GUARDED, _) => true,
            (_, Some(made)) => made,
            (EXCLUSIVE | EXCLUSIVE_WITH_ATTRIBUTES, None) => !named, // else an earlier transmission of this call made it
            _ => !named && !creation.shows_old && known(self) != Some(true),
        }
    }

    fn bear(&mut self, op: &Operation, creation: &Creation) {
        let slot = self.newborn(op, creation);
        let life = &mut self.inodes.get_mut(slot).life;
        life.birth = Some(creation.birth);
        life.early.born(creation.birth.at);
        life.kind = creation.kind.or(life.kind);
        if creation.kind != Some(Kind::Directory) {
            life.nlink = life.nlink.or(Some(1));
        }
        if creation.kind == Some(Kind::File) && life.last_size.is_none() {
            life.sized(op.at, creation.size.unwrap_or(0));
        }
        life.named(op, &creation.shown, &self.gaps);
        if let Some(found) = self.inodes.by_name(creation.dir, creation.name) {
            if found.slot == slot {
                self.inodes.get_mut(slot).names[found.index].birth = Some(creation.birth);
                self.file_born(slot);
                return self.name_born(slot, found.index);
            }
            self.lose_name(found);
        }
        self.give_name(op, slot, creation.dir, creation.name, Some(creation.birth));
        self.file_born(slot);
    }

    /// The inode of a file that was just made.
    fn newborn(&mut self, op: &Operation, creation: &Creation) -> Slot {
        let known = match &creation.fh {
            Some(fh) => self.inodes.by_handle(fh),
            None => {
                let found = self.inodes.by_name(creation.dir, creation.name);
                found.map(|found| found.slot).filter(|&slot| self.inodes.get(slot).names.len() == 1)
            }
        };
        if let Some(slot) = known {
            if self.inodes.get(slot).life.appeared_during(op) {
                return slot;
            }
            if creation.fh.is_some() {
                self.lose_file(slot);
            }
        }
        let handle = creation.fh.as_ref().map(|fh| Arc::from(fh.handle));
        self.inodes.insert(Inode::new(op, handle))
    }

    /// An unchecked create of an existing name opens the file, and may set its size.
    fn open(&mut self, op: &Operation, creation: &Creation) {
        let slot = if let Some(fh) = &creation.fh {
            self.name_file(op, fh, &creation.shown);
            self.see_name(op, creation.dir, creation.name, fh, &creation.shown);
            self.inodes.by_handle(fh)
        } else if let Some(found) = self.inodes.by_name(creation.dir, creation.name) {
            let inode = self.inodes.get_mut(found.slot);
            inode.life.named(op, &creation.shown, &self.gaps);
            inode.names[found.index].last_seen = op.at;
            Some(found.slot)
        } else {
            None
        };
        if let Some(slot) = slot {
            self.resized(op, slot, creation.size);
        }
    }
}

/// The kind of object that a procedure makes.
fn kind_made(
    columns: &Columns,
    row: usize,
    procedure: Op,
    shown: &Attributes,
) -> (How, Option<Kind>) {
    match procedure {
        Op::Mkdir => (How::Mkdir, Some(Kind::Directory)),
        Op::Symlink => (How::Symlink, Some(Kind::Symlink)),
        Op::Mknod => {
            let asked = get(columns.set_ftype, row).and_then(Kind::from_ftype);
            (How::Mknod, asked.or(shown.kind))
        }
        _ => (How::Create, shown.kind.or(Some(Kind::File))),
    }
}

/// Whether an open of version 4 made the file, if its reply says so. If the server reports the
/// change as `atomic`, only the open changed the directory, so it made the file if the directory
/// changed. If neither the directory changed nor the mode was set, the file existed. (The former
/// alone is not enough: some servers' change attributes are times, and too coarse.)
fn made(columns: &Columns, row: usize) -> Option<bool> {
    let v4 = columns.version4.as_ref()?;
    if get(v4.dir_change, row)? != get(v4.dir_pre_change, row)? {
        let atomic = v4.dir_change_atomic;
        return (atomic.is_valid(row) && atomic.value(row)).then_some(true);
    }
    get(columns.set_mode, row)?;
    let map = bytes(v4.attributes_set, row)?;
    // words of four bytes, the highest bit first
    let set =
        |bit: &usize| map.get(bit / 32 * 4 + 3 - bit % 32 / 8).map(|byte| byte >> (bit % 8) & 1);
    let mode_set = MODES.iter().any(|bit| set(bit) == Some(1));
    (!mode_set).then_some(false)
}

/// Whether the reply to an unchecked create shows that the file is not new: it has other names or
/// holds data, it was read or written before its attributes changed, or its directory, which a new
/// entry modifies, did not change.
fn shows_old(columns: &Columns, row: usize, shown: &Attributes) -> bool {
    let size = get(columns.set_size, row).unwrap_or(0);
    if shown.nlink.is_some_and(|n| n > 1) || shown.size.is_some_and(|s| s > size) {
        return true;
    }
    let Some(ctime) = shown.ctime else {
        return false;
    };
    let before = |time: Option<i64>| time.is_some_and(|t| t < ctime.saturating_sub(SLACK));
    let set = |how: Option<u8>| how.is_some_and(|how| how != 0);
    let dir_mtime = columns.dir.get(row).mtime;
    before(shown.atime) && !set(get(columns.set_atime_how, row))
        || before(shown.mtime) && !set(get(columns.set_mtime_how, row))
        || before(dir_mtime) && dir_mtime == get(columns.dir_pre_mtime, row)
}
