//! Arguments and results of NFS version 3 (RFC 1813 section 3.3) in captures; reader and writer
//! both follow these functions.

use super::codec::Codec;
use crate::attributes::{attributes, before, Subject};
use crate::schema::{Column, Op};

/// `createhow3`: by a verifier, with no attributes.
const EXCLUSIVE: u32 = 2;

/// The arguments of a call.
pub fn arguments<C: Codec>(op: Op, c: &mut C) -> Result<(), C::Fault> {
    if op == Op::Null {
        return Ok(());
    }
    c.handle(Column::Fh)?;
    match op {
        Op::Setattr => {
            settable(c)?;
            c.optional([Column::GuardCtime], |c| c.times(&[Column::GuardCtime]))
        }
        Op::Lookup | Op::Remove | Op::Rmdir => c.string(Column::Name),
        Op::Access => c.words(&[Column::Access]),
        Op::Read | Op::Commit => {
            c.longs(&[Column::Offset])?;
            c.words(&[Column::Count])
        }
        Op::Write => {
            c.longs(&[Column::Offset])?;
            c.words(&[Column::Count])?;
            stable(c, Column::Stable)?;
            c.data(Column::Count)
        }
        Op::Create => create(c),
        Op::Mkdir => {
            c.string(Column::Name)?;
            settable(c)
        }
        Op::Symlink => {
            c.string(Column::Name)?;
            settable(c)?;
            c.string(Column::Target)
        }
        Op::Mknod => mknod(c),
        Op::Rename => {
            c.string(Column::Name)?;
            c.handle(Column::Fh2)?;
            c.string(Column::Name2)
        }
        Op::Link => {
            c.handle(Column::Fh2)?;
            c.string(Column::Name)
        }
        Op::Readdir => {
            place_in_directory(c)?;
            c.words(&[Column::Count])
        }
        Op::Readdirplus => {
            place_in_directory(c)?;
            c.words(&[Column::Count, Column::MaxCount])
        }
        _ => Ok(()), // GETATTR, READLINK, FSSTAT, FSINFO, PATHCONF: only a handle
    }
}

/// The results of a reply, by whether its status is OK.
pub fn results<C: Codec>(op: Op, ok: bool, c: &mut C) -> Result<(), C::Fault> {
    match op {
        Op::Getattr if ok => c.attributes(Subject::Object),
        Op::Getattr => Ok(()),
        Op::Setattr => wcc(c, Subject::Object),
        Op::Lookup => {
            if ok {
                c.handle(Column::NewFh)?;
                post_op(c, Subject::Object)?;
            }
            post_op(c, Subject::Directory)
        }
        Op::Create | Op::Mkdir | Op::Symlink | Op::Mknod => {
            if ok {
                c.optional([Column::NewFh], |c| c.handle(Column::NewFh))?;
                post_op(c, Subject::Object)?;
            }
            wcc(c, Subject::Directory)
        }
        Op::Remove | Op::Rmdir => wcc(c, Subject::Directory),
        Op::Rename => {
            wcc(c, Subject::Directory)?;
            wcc(c, Subject::SecondDirectory)
        }
        Op::Link => {
            post_op(c, Subject::Object)?;
            wcc(c, Subject::Directory)
        }
        Op::Write | Op::Commit => {
            wcc(c, Subject::Object)?;
            if ok {
                written(op, c)?;
            }
            Ok(())
        }
        _ => {
            post_op(c, Subject::Object)?;
            if ok {
                found(op, c)?;
            }
            Ok(())
        }
    }
}

/// The results after the object's attributes in read-only procedures.
fn found<C: Codec>(op: Op, c: &mut C) -> Result<(), C::Fault> {
    match op {
        Op::Access => c.words(&[Column::ReplyAccess]),
        Op::Readlink => c.string(Column::Target),
        Op::Read => {
            c.words(&[Column::ReplyCount])?;
            c.flags(&[Column::Eof])?;
            c.data(Column::ReplyCount)
        }
        Op::Readdir | Op::Readdirplus => {
            c.verifier(Column::ReplyVerifier)?;
            c.entries(op == Op::Readdirplus)?;
            c.flags(&[Column::Eof])
        }
        Op::Fsstat => {
            c.longs(&[
                Column::FsTotalBytes,
                Column::FsFreeBytes,
                Column::FsAvailableBytes,
                Column::FsTotalFiles,
                Column::FsFreeFiles,
                Column::FsAvailableFiles,
            ])?;
            c.words(&[Column::FsInvariantSeconds])
        }
        Op::Fsinfo => fsinfo(c),
        Op::Pathconf => pathconf(c),
        _ => Ok(()),
    }
}

/// The results after the object's weak cache data in write and commit.
fn written<C: Codec>(op: Op, c: &mut C) -> Result<(), C::Fault> {
    if op == Op::Write {
        c.words(&[Column::ReplyCount])?;
        stable(c, Column::ReplyStable)?;
    }
    c.verifier(Column::ReplyVerifier)
}

fn stable<C: Codec>(c: &mut C, column: Column) -> Result<(), C::Fault> {
    c.choice(column, 2, "a stability from 0 to 2").map(drop)
}

fn create<C: Codec>(c: &mut C) -> Result<(), C::Fault> {
    c.string(Column::Name)?;
    match c.choice(Column::How, EXCLUSIVE, "a way to create from 0 to 2")? {
        EXCLUSIVE => c.verifier(Column::CreateVerifier),
        _ => settable(c),
    }
}

fn mknod<C: Codec>(c: &mut C) -> Result<(), C::Fault> {
    c.string(Column::Name)?;
    match c.choice(Column::SetFtype, 7, "a file type from 0 to 7")? {
        3 | 4 => {
            settable(c)?;
            c.words(&[Column::SetRdevMajor, Column::SetRdevMinor])
        }
        6 | 7 => settable(c),
        _ => Ok(()),
    }
}

fn place_in_directory<C: Codec>(c: &mut C) -> Result<(), C::Fault> {
    c.longs(&[Column::Cookie])?;
    c.verifier(Column::CookieVerifier)
}

fn fsinfo<C: Codec>(c: &mut C) -> Result<(), C::Fault> {
    c.words(&[
        Column::FsReadMax,
        Column::FsReadPreferred,
        Column::FsReadMultiple,
        Column::FsWriteMax,
        Column::FsWritePreferred,
        Column::FsWriteMultiple,
        Column::FsReaddirPreferred,
    ])?;
    c.longs(&[Column::FsMaxFileSize])?;
    c.time_delta()?;
    c.words(&[Column::FsProperties])
}

fn pathconf<C: Codec>(c: &mut C) -> Result<(), C::Fault> {
    c.words(&[Column::FsLinkMax, Column::FsNameMax])?;
    c.flags(&[
        Column::FsNoTrunc,
        Column::FsChownRestricted,
        Column::FsCaseInsensitive,
        Column::FsCasePreserving,
    ])
}

/// `post_op_attr`.
fn post_op<C: Codec>(c: &mut C, subject: Subject) -> Result<(), C::Fault> {
    c.optional(attributes(subject), |c| c.attributes(subject))
}

/// `wcc_data`: some attributes before the operation, all after it.
fn wcc<C: Codec>(c: &mut C, subject: Subject) -> Result<(), C::Fault> {
    c.optional(before(subject), |c| c.before(subject))?;
    post_op(c, subject)
}

/// `sattr3`.
fn settable<C: Codec>(c: &mut C) -> Result<(), C::Fault> {
    for column in [Column::SetMode, Column::SetOwner, Column::SetGroup] {
        c.optional([column], |c| c.words(&[column]))?;
    }
    c.optional([Column::SetSize], |c| c.longs(&[Column::SetSize]))?;
    c.set_time(Column::SetAtimeHow, Column::SetAtime)?;
    c.set_time(Column::SetMtimeHow, Column::SetMtime)
}
