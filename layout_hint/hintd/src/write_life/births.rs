//! New files: their attributes, and their hints.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use birthmark_hook::creates::{open_by_handle, rw_hint, set_rw_hint};
use birthmark_live::handles::linux_inode;
use rustix::fd::OwnedFd;
use rustix::fs::{statx, AtFlags, FileType, OFlags, StatxFlags};

use super::class::Class;
use super::counters::Counters;
use super::events::{Birth, Handle};
use crate::log::Trouble;

/// Opens a file without accessing it.
const LOOK: OFlags = OFlags::PATH.union(OFlags::CLOEXEC);
/// Opens a file for its hint, without reading or blocking.
const HINT: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// `RWH_WRITE_LIFE_NONE`: hints up to this one mean nothing.
const NO_HINT: u64 = 1;

const PERMISSIONS: u16 = 0o7777;

/// A file that waits for its hint.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Its directory and name.
    pub birth: Birth<'a>,
    /// Its permission bits.
    pub mode: u32,
    /// Its owner.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
}

impl File<'_> {
    /// The inode of its directory, if the handle has it.
    pub fn directory(&self) -> Option<u64> {
        let Handle { kind, bytes } = self.birth.directory;
        linux_inode(kind, bytes)
    }
}

/// Looks files up, and hints them.
pub struct Births<'a> {
    mount: OwnedFd,
    late: Duration,
    counters: &'a Counters,
    refusal: Trouble,
}

impl<'a> Births<'a> {
    /// Hints files in the file system of `mount` that are younger than `late`.
    pub fn new(mount: OwnedFd, late: Duration, counters: &'a Counters) -> Self {
        Births { mount, late, counters, refusal: Trouble::new("the file system's hints") }
    }

    /// The attributes of a file, if it may be hinted.
    pub fn look<'b>(&self, birth: Birth<'b>) -> Option<File<'b>> {
        let counters = self.counters;
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let found = self.open(birth.file, LOOK).and_then(|file| {
            statx(file, c"", AtFlags::EMPTY_PATH, wanted).map_err(io::Error::from)
        });
        let Ok(found) = found else {
            counters.gone.add();
            return None;
        };
        let regular = FileType::from_raw_mode(found.stx_mode.into()) == FileType::RegularFile;
        if !regular || found.stx_nlink > 1 {
            counters.other_kinds.add();
            return None;
        }
        let knows_birth = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        let born = if knows_birth { found.stx_btime } else { found.stx_ctime };
        if found.stx_nlink == 0 {
            counters.gone.add();
        } else if since_epoch().saturating_sub(duration(born.tv_sec, born.tv_nsec)) > self.late {
            counters.late.add();
        } else {
            let mode = u32::from(found.stx_mode & PERMISSIONS);
            return Some(File { birth, mode, uid: found.stx_uid, gid: found.stx_gid });
        }
        None
    }

    /// Hints a file.
    pub fn hint(&self, file: &File, class: Class) {
        let counters = self.counters;
        let hinted = match class {
            Class::Short => &counters.hinted_short,
            Class::Medium => &counters.hinted_medium,
            Class::Long => &counters.hinted_long,
            Class::Extreme => &counters.hinted_extreme,
        };
        let outcome = match self.open(file.birth.file, HINT) {
            Ok(open) => match self.set(&open, class) {
                Ok(HintResult::Set) => hinted,
                Ok(HintResult::ByOthers) => &counters.hinted_by_others,
                Ok(HintResult::Ignored) => &counters.ignored,
                Err(error) => {
                    self.refusal.is(error);
                    &counters.refused
                }
            },
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => &counters.leased,
            Err(_) => &counters.gone,
        };
        outcome.add();
    }

    fn set(&self, open: &OwnedFd, class: Class) -> io::Result<HintResult> {
        if rw_hint(open)? > NO_HINT {
            return Ok(HintResult::ByOthers);
        }
        set_rw_hint(open, class as u64)?;
        Ok(if rw_hint(open)? == class as u64 { HintResult::Set } else { HintResult::Ignored })
    }

    fn open(&self, file: Handle, flags: OFlags) -> io::Result<OwnedFd> {
        open_by_handle(&self.mount, file.kind, file.bytes, flags)
    }
}

/// Outcome of a hint.
enum HintResult {
    Set,
    ByOthers,
    Ignored,
}

/// The time of day, for a file's age and the models' hour.
pub fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn duration(seconds: i64, nanoseconds: u32) -> Duration {
    Duration::new(seconds.try_into().unwrap_or(0), nanoseconds)
}
