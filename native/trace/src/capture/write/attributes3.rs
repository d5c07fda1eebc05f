//! The structures that many procedures share, as [`super::super::attributes`] reads them
//! (RFC 1813 section 2.6).

use super::encoder::{time3, Encoder};
use crate::attributes::{column, Attribute, Subject};
use crate::rows::Entry;
use crate::schema::{Column, EntryColumn};

use Attribute::{
    Atime, Ctime, Fileid, Fsid, Ftype, Group, Mode, Mtime, Nlink, Owner, PreCtime, PreMtime,
    PreSize, RdevMajor, RdevMinor, Size, Used,
};

/// `fattr3`, in its order.
const ATTRIBUTES: [Attribute; 14] = [
    Ftype, Mode, Nlink, Owner, Group, Size, Used, RdevMajor, RdevMinor, Fsid, Fileid, Atime, Mtime,
    Ctime,
];

/// The same attributes of a directory entry, but for the fileid, which the entry has itself.
const ENTRY: [EntryColumn; 14] = [
    EntryColumn::Ftype,
    EntryColumn::Mode,
    EntryColumn::Nlink,
    EntryColumn::Owner,
    EntryColumn::Group,
    EntryColumn::Size,
    EntryColumn::Used,
    EntryColumn::RdevMajor,
    EntryColumn::RdevMinor,
    EntryColumn::Fsid,
    EntryColumn::Fileid,
    EntryColumn::Atime,
    EntryColumn::Mtime,
    EntryColumn::Ctime,
];

/// `fattr3`, required.
pub fn attributes3(e: &mut Encoder, subject: Subject) {
    let of = |attribute| column(subject, attribute);
    e.words(&[Ftype, Mode, Nlink, Owner, Group].map(of));
    e.longs(&[Size, Used].map(of));
    e.words(&[RdevMajor, RdevMinor].map(of));
    e.longs(&[Fsid, Fileid].map(of));
    e.times(&[Atime, Mtime, Ctime].map(of));
}

/// `post_op_attr`.
pub fn post_op(e: &mut Encoder, subject: Subject) {
    if e.follows(ATTRIBUTES.map(|attribute| column(subject, attribute))) {
        attributes3(e, subject);
    }
}

/// `wcc_data`: some attributes before the operation, all after it.
pub fn wcc(e: &mut Encoder, subject: Subject) {
    let of = |attribute| column(subject, attribute);
    if e.follows([PreSize, PreMtime, PreCtime].map(of)) {
        e.longs(&[of(PreSize)]);
        e.times(&[PreMtime, PreCtime].map(of));
    }
    post_op(e, subject);
}

/// `post_op_fh3`.
pub fn post_op_handle(e: &mut Encoder) {
    if e.follows([Column::NewFh]) {
        e.opaque(Column::NewFh);
    }
}

/// `sattr3`.
pub fn settable3(e: &mut Encoder) {
    for column in [Column::SetMode, Column::SetOwner, Column::SetGroup] {
        if e.follows([column]) {
            e.words(&[column]);
        }
    }
    if e.follows([Column::SetSize]) {
        e.longs(&[Column::SetSize]);
    }
    for (how, time) in
        [(Column::SetAtimeHow, Column::SetAtime), (Column::SetMtimeHow, Column::SetMtime)]
    {
        match e.row.number(how).or(e.row.number(time).map(|_| CLIENT_TIME)) {
            None => e.words.put(&[0]),
            Some(how) => {
                e.words.put(&[how as u32]);
                e.account(true);
                if how == CLIENT_TIME {
                    e.times(&[time]);
                }
            }
        }
    }
}

/// `set_atime_how` and `set_mtime_how`: a time that the client names.
const CLIENT_TIME: u64 = 2;

/// `name_attributes` and `name_handle` of `entryplus3`.
pub fn entry_attributes(e: &mut Encoder, entry: &Entry) {
    let shown = ENTRY.iter().any(|&c| c != EntryColumn::Fileid && entry.number(c).is_some());
    e.words.put(&[shown.into()]);
    if shown {
        for column in ENTRY {
            let value = entry.number(column).unwrap_or_default();
            match column {
                EntryColumn::Size | EntryColumn::Used | EntryColumn::Fsid | EntryColumn::Fileid => {
                    e.words.put_long(value);
                }
                EntryColumn::Atime | EntryColumn::Mtime | EntryColumn::Ctime => {
                    e.words.put(&time3(value));
                }
                _ => e.words.put(&[value as u32]),
            }
        }
    }
    let handle = entry.bytes(EntryColumn::Fh);
    e.words.put(&[handle.is_some().into()]);
    if let Some(handle) = handle {
        e.words.put_opaque(handle);
    }
}
