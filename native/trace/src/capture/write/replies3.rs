//! Results of NFS version 3, as [`super::super::nfs3::results`] reads them (RFC 1813
//! section 3.3).

use super::attributes3::{attributes3, entry_attributes, post_op, post_op_handle, wcc};
use super::calls3::data;
use super::encoder::Encoder;
use crate::attributes::Subject;
use crate::schema::{Column, EntryColumn, Op};

/// Writes the results of a reply, by whether its status is OK.
pub fn results(op: Op, ok: bool, most_data: usize, e: &mut Encoder) {
    match op {
        Op::Null => {}
        Op::Getattr if ok => attributes3(e, Subject::Object),
        Op::Getattr => {}
        Op::Setattr => wcc(e, Subject::Object),
        Op::Lookup => {
            if ok {
                e.opaque(Column::NewFh);
                post_op(e, Subject::Object);
            }
            post_op(e, Subject::Directory);
        }
        Op::Create | Op::Mkdir | Op::Symlink | Op::Mknod => {
            if ok {
                post_op_handle(e);
                post_op(e, Subject::Object);
            }
            wcc(e, Subject::Directory);
        }
        Op::Remove | Op::Rmdir => wcc(e, Subject::Directory),
        Op::Rename => {
            wcc(e, Subject::Directory);
            wcc(e, Subject::SecondDirectory);
        }
        Op::Link => {
            post_op(e, Subject::Object);
            wcc(e, Subject::Directory);
        }
        Op::Write | Op::Commit => {
            wcc(e, Subject::Object);
            if ok {
                written(op, e);
            }
        }
        _ => {
            post_op(e, Subject::Object);
            if ok {
                found(op, most_data, e);
            }
        }
    }
}

/// What follows the object's weak cache data in write and commit.
fn written(op: Op, e: &mut Encoder) {
    if op == Op::Write {
        e.words(&[Column::ReplyCount, Column::ReplyStable]);
    }
    e.verifier(Column::ReplyVerifier);
}

/// What follows the object's attributes in the procedures that only look.
fn found(op: Op, most_data: usize, e: &mut Encoder) {
    match op {
        Op::Access => e.words(&[Column::ReplyAccess]),
        Op::Readlink => e.opaque(Column::Target),
        Op::Read => {
            e.words(&[Column::ReplyCount, Column::Eof]);
            data(Column::ReplyCount, most_data, e);
        }
        Op::Readdir | Op::Readdirplus => listing(op == Op::Readdirplus, e),
        Op::Fsstat => {
            e.longs(&[
                Column::FsTotalBytes,
                Column::FsFreeBytes,
                Column::FsAvailableBytes,
                Column::FsTotalFiles,
                Column::FsFreeFiles,
                Column::FsAvailableFiles,
            ]);
            e.words(&[Column::FsInvariantSeconds]);
        }
        Op::Fsinfo => fsinfo(e),
        Op::Pathconf => e.words(&[
            Column::FsLinkMax,
            Column::FsNameMax,
            Column::FsNoTrunc,
            Column::FsChownRestricted,
            Column::FsCaseInsensitive,
            Column::FsCasePreserving,
        ]),
        _ => {}
    }
}

fn listing(plus: bool, e: &mut Encoder) {
    e.verifier(Column::ReplyVerifier);
    for entry in e.row.entries().into_iter().flatten() {
        e.words.put(&[1]);
        e.words.put_long(entry.number(EntryColumn::Fileid).unwrap_or_default());
        e.words.put_opaque(entry.bytes(EntryColumn::Name).unwrap_or_default());
        e.words.put_long(entry.number(EntryColumn::Cookie).unwrap_or_default());
        if plus {
            entry_attributes(e, &entry);
        }
        e.account(true);
    }
    e.words.put(&[0]);
    e.words(&[Column::Eof]);
}

fn fsinfo(e: &mut Encoder) {
    e.words(&[
        Column::FsReadMax,
        Column::FsReadPreferred,
        Column::FsReadMultiple,
        Column::FsWriteMax,
        Column::FsWritePreferred,
        Column::FsWriteMultiple,
        Column::FsReaddirPreferred,
    ]);
    e.longs(&[Column::FsMaxFileSize]);
    let delta = e.row.number(Column::FsTimeDelta);
    let nanoseconds = delta.unwrap_or_default();
    e.words.put(&[(nanoseconds / 1_000_000_000) as u32, (nanoseconds % 1_000_000_000) as u32]);
    e.account(delta.is_some());
    e.words(&[Column::FsProperties]);
}
