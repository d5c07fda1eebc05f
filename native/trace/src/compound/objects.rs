//! The objects that the operations of a compound work on, one after the other.

use super::Row;
use crate::fields::Section;
use crate::schema::{Column, Op};

/// `open_claim_type4`: the file is named in the current directory (RFC 8881 section 18.16.1).
const BY_NAME: [u64; 3] = [0, 2, 3];

/// The objects of a compound, by number until their handles are known.
pub struct Objects<'a> {
    minor: u64,
    all: Vec<Object<'a>>,
    current: Option<usize>,
    saved: Option<usize>,
}

struct Object<'a> {
    handle: Option<&'a [u8]>,
    shown: Option<Section<'a>>,
    /// Whether it is unchanged since it became current.
    fresh: bool,
}

/// The objects that an operation worked on, and that it found or made.
#[derive(Clone, Copy, Debug, Default)]
pub struct Touched {
    /// The one it worked on.
    pub fh: Option<usize>,
    /// The second object it worked on.
    pub fh2: Option<usize>,
    /// The one it found or made.
    pub new: Option<usize>,
}

impl<'a> Objects<'a> {
    /// Returns an empty set, for a compound of a minor version.
    pub fn new(minor: u64) -> Objects<'a> {
        Objects { minor, all: Vec::new(), current: None, saved: None }
    }

    /// The handle of an object, if known.
    pub fn handle(&self, object: Option<usize>) -> Option<&'a [u8]> {
        self.all.get(object?)?.handle
    }

    /// The attributes of an object, as they were when it was found or made.
    pub fn shown(&self, object: Option<usize>) -> Option<Section<'a>> {
        self.all.get(object?)?.shown
    }

    /// Takes the next operation. One with an unknown status counts as successful.
    pub fn follow(&mut self, row: &Row<'a>) -> Touched {
        let before = self.worked_on(row.op);
        if row.status.is_some_and(|status| status != 0) {
            return before;
        }
        match row.op {
            Op::Putfh => self.current = self.add(row.asked.and_then(|a| a.get_text(Column::Fh))),
            Op::Putrootfh | Op::Putpubfh => self.current = self.add(None),
            Op::Restorefh => self.current = self.saved,
            Op::Savefh => self.saved = self.current,
            Op::Getfh | Op::Getattr => self.learn(row),
            Op::SecinfoNoName => self.current = None,
            Op::Secinfo if self.minor > 0 => self.current = None,
            _ if finds(row) => {
                self.current = self.add(None);
                return Touched { new: self.current, ..before };
            }
            op => self.used(op),
        }
        match row.op {
            Op::Putrootfh | Op::Putpubfh | Op::Restorefh => {
                Touched { fh: self.current, ..Touched::default() }
            }
            _ => before,
        }
    }

    /// The objects that an operation works on.
    fn worked_on(&self, op: Op) -> Touched {
        let (fh, fh2) = match op {
            Op::Rename | Op::Link => (self.saved, self.current),
            Op::Copy | Op::Clone => (self.current, self.saved),
            op if without_file(op) => (None, None),
            _ => (self.current, None),
        };
        Touched { fh, fh2, new: None }
    }

    fn add(&mut self, handle: Option<&'a [u8]>) -> Option<usize> {
        self.all.push(Object { handle, shown: None, fresh: true });
        Some(self.all.len() - 1)
    }

    /// A GETFH gives the current object's handle, a GETATTR its attributes (and, on request, its
    /// handle).
    fn learn(&mut self, row: &Row<'a>) {
        let object = self.current.and_then(|current| self.all.get_mut(current));
        let (Some(object), Some(answer)) = (object, row.answered) else {
            return;
        };
        let handle = answer.get_text(Column::Fh).or(answer.get_text(Column::NewFh));
        object.handle = handle.or(object.handle);
        if row.op == Op::Getattr && object.fresh && object.shown.is_none() {
            object.shown = Some(answer);
        }
    }

    /// Other operations on the current object may have changed it.
    fn used(&mut self, op: Op) {
        if !without_file(op) && op != Op::Access {
            if let Some(object) = self.current.and_then(|current| self.all.get_mut(current)) {
                object.fresh = false;
            }
        }
    }
}

/// Whether an operation makes another object current.
fn finds(row: &Row) -> bool {
    match row.op {
        Op::Lookup | Op::Lookupp | Op::Openattr | Op::Mkdir | Op::Symlink | Op::Mknod => true,
        Op::Open => {
            let claim = row.asked.and_then(|asked| asked.get(Column::OpenClaim));
            claim.is_none_or(|claim| BY_NAME.contains(&claim))
        }
        _ => false,
    }
}

/// Whether an operation works on no file.
fn without_file(op: Op) -> bool {
    matches!(
        op,
        Op::Putfh
            | Op::Putrootfh
            | Op::Putpubfh
            | Op::Restorefh
            | Op::Sequence
            | Op::Renew
            | Op::Setclientid
            | Op::SetclientidConfirm
            | Op::ExchangeId
            | Op::CreateSession
            | Op::DestroySession
            | Op::DestroyClientid
            | Op::BindConnToSession
            | Op::BackchannelCtl
            | Op::SetSsv
            | Op::Delegpurge
            | Op::ReleaseLockowner
            | Op::FreeStateid
            | Op::TestStateid
            | Op::Getdeviceinfo
            | Op::Illegal
    )
}
