//! Arguments of NFS version 3, as [`super::super::nfs3::arguments`] reads them (RFC 1813
//! section 3.3).

use super::attributes3::settable3;
use super::encoder::Encoder;
use crate::schema::{Column, Op};

/// `createhow3`: by a verifier, with no attributes.
const EXCLUSIVE: u64 = 2;

/// Writes the arguments of a call.
pub fn arguments(op: Op, most_data: usize, e: &mut Encoder) {
    if op == Op::Null {
        return;
    }
    e.opaque(Column::Fh);
    match op {
        Op::Setattr => {
            settable3(e);
            if e.follows([Column::GuardCtime]) {
                e.times(&[Column::GuardCtime]);
            }
        }
        Op::Lookup | Op::Remove | Op::Rmdir => e.opaque(Column::Name),
        Op::Access => e.words(&[Column::Access]),
        Op::Read | Op::Commit => {
            e.longs(&[Column::Offset]);
            e.words(&[Column::Count]);
        }
        Op::Write => {
            e.longs(&[Column::Offset]);
            e.words(&[Column::Count, Column::Stable]);
            data(Column::Count, most_data, e);
        }
        Op::Create => create(e),
        Op::Mkdir => {
            e.opaque(Column::Name);
            settable3(e);
        }
        Op::Symlink => {
            e.opaque(Column::Name);
            settable3(e);
            e.opaque(Column::Target);
        }
        Op::Mknod => mknod(e),
        Op::Rename => {
            for column in [Column::Name, Column::Fh2, Column::Name2] {
                e.opaque(column);
            }
        }
        Op::Link => {
            e.opaque(Column::Fh2);
            e.opaque(Column::Name);
        }
        Op::Readdir | Op::Readdirplus => {
            e.longs(&[Column::Cookie]);
            e.verifier(Column::CookieVerifier);
            e.words(&[Column::Count]);
            if op == Op::Readdirplus {
                e.words(&[Column::MaxCount]);
            }
        }
        _ => {}
    }
}

/// A file's data: as many zeros as the column says, at most so many.
pub fn data(count: Column, most: usize, e: &mut Encoder) {
    let length = e.row.number(count).map_or(0, |count| (count as usize).min(most));
    e.words.put(&[length as u32]);
    e.zeros = length.next_multiple_of(4);
}

fn create(e: &mut Encoder) {
    e.opaque(Column::Name);
    e.words(&[Column::How]);
    if e.row.number(Column::How) == Some(EXCLUSIVE) {
        e.verifier(Column::CreateVerifier);
    } else {
        settable3(e);
    }
}

fn mknod(e: &mut Encoder) {
    e.opaque(Column::Name);
    e.words(&[Column::SetFtype]);
    match e.row.number(Column::SetFtype) {
        Some(3 | 4) => {
            settable3(e);
            e.words(&[Column::SetRdevMajor, Column::SetRdevMinor]);
        }
        Some(6 | 7) => settable3(e),
        _ => {}
    }
}
