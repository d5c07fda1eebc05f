//! Arguments and results of NFS version 3 (RFC 1813 section 3.3).

use super::attributes::{attributes3, fattr3, handle3, post_op, settable3, time3, wcc};
use super::xdr::{Decoded, Fault, Xdr};
use crate::attributes::Subject;
use crate::fields::Fields;
use crate::schema::{Column, EntryColumn, Op};

/// The length of a write, create or cookie verifier.
const VERIFIER: usize = 8;

/// `createhow3`: by a verifier, with no attributes.
const EXCLUSIVE: u32 = 2;

/// The arguments of a call.
pub fn arguments(op: Op, x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    if op == Op::Null {
        return Ok(());
    }
    f.text(Column::Fh, handle3(x)?);
    match op {
        Op::Getattr | Op::Readlink | Op::Fsstat | Op::Fsinfo | Op::Pathconf => Ok(()),
        Op::Setattr => {
            settable3(x, f)?;
            if x.boolean()? {
                f.number(Column::GuardCtime, time3(x)?);
            }
            Ok(())
        }
        Op::Lookup | Op::Remove | Op::Rmdir => name(x, Column::Name, f),
        Op::Access => numbers(&[Column::Access], x, f),
        Op::Read | Op::Commit => {
            f.number(Column::Offset, x.u64()?);
            numbers(&[Column::Count], x, f)
        }
        // the data that follow are not looked at
        Op::Write => {
            f.number(Column::Offset, x.u64()?);
            numbers(&[Column::Count], x, f)?;
            stable(x, Column::Stable, f)
        }
        Op::Create => create(x, f),
        Op::Mkdir => {
            name(x, Column::Name, f)?;
            settable3(x, f)
        }
        Op::Symlink => {
            name(x, Column::Name, f)?;
            settable3(x, f)?;
            name(x, Column::Target, f)
        }
        Op::Mknod => mknod(x, f),
        Op::Rename => {
            name(x, Column::Name, f)?;
            f.text(Column::Fh2, handle3(x)?);
            name(x, Column::Name2, f)
        }
        Op::Link => {
            f.text(Column::Fh2, handle3(x)?);
            name(x, Column::Name, f)
        }
        Op::Readdir => {
            place_in_directory(x, f)?;
            numbers(&[Column::Count], x, f)
        }
        Op::Readdirplus => {
            place_in_directory(x, f)?;
            numbers(&[Column::Count, Column::MaxCount], x, f)
        }
        _ => Err(Fault::Bad("a procedure of NFS version 3")),
    }
}

/// The results of a reply, by whether its status is OK.
pub fn results(op: Op, ok: bool, x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    match op {
        Op::Getattr if ok => attributes3(x, Subject::Object, f),
        Op::Getattr => Ok(()),
        Op::Setattr => wcc(x, Subject::Object, f),
        Op::Lookup => {
            if ok {
                f.text(Column::NewFh, handle3(x)?);
                post_op(x, Subject::Object, f)?;
            }
            post_op(x, Subject::Directory, f)
        }
        Op::Create | Op::Mkdir | Op::Symlink | Op::Mknod => {
            if ok {
                if x.boolean()? {
                    f.text(Column::NewFh, handle3(x)?);
                }
                post_op(x, Subject::Object, f)?;
            }
            wcc(x, Subject::Directory, f)
        }
        Op::Remove | Op::Rmdir => wcc(x, Subject::Directory, f),
        Op::Rename => {
            wcc(x, Subject::Directory, f)?;
            wcc(x, Subject::SecondDirectory, f)
        }
        Op::Link => {
            post_op(x, Subject::Object, f)?;
            wcc(x, Subject::Directory, f)
        }
        Op::Write | Op::Commit => {
            wcc(x, Subject::Object, f)?;
            if ok {
                written(op, x, f)?;
            }
            Ok(())
        }
        _ => {
            post_op(x, Subject::Object, f)?;
            if ok {
                found(op, x, f)?;
            }
            Ok(())
        }
    }
}

/// What follows the object's attributes in the procedures that only look.
fn found(op: Op, x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    match op {
        Op::Access => numbers(&[Column::ReplyAccess], x, f),
        Op::Readlink => name(x, Column::Target, f),
        // the data that follow are not looked at
        Op::Read => {
            numbers(&[Column::ReplyCount], x, f)?;
            f.number(Column::Eof, x.boolean()?.into());
            Ok(())
        }
        Op::Readdir => listing(false, x, f),
        Op::Readdirplus => listing(true, x, f),
        Op::Fsstat => fsstat(x, f),
        Op::Fsinfo => fsinfo(x, f),
        Op::Pathconf => pathconf(x, f),
        _ => Err(Fault::Bad("a procedure of NFS version 3")),
    }
}

/// What follows the object's weak cache data in write and commit.
fn written(op: Op, x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    if op == Op::Write {
        numbers(&[Column::ReplyCount], x, f)?;
        stable(x, Column::ReplyStable, f)?;
    }
    f.text(Column::ReplyVerifier, x.fixed(VERIFIER)?);
    Ok(())
}

fn name(x: &mut Xdr, column: Column, f: &mut Fields) -> Decoded<()> {
    f.text(column, x.string()?);
    Ok(())
}

fn numbers(columns: &[Column], x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    for &column in columns {
        f.number(column, x.u32()?.into());
    }
    Ok(())
}

fn stable(x: &mut Xdr, column: Column, f: &mut Fields) -> Decoded<()> {
    f.number(column, x.choice(2, "a stability from 0 to 2")?.into());
    Ok(())
}

fn create(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    name(x, Column::Name, f)?;
    let how = x.choice(EXCLUSIVE, "a way to create from 0 to 2")?;
    f.number(Column::How, how.into());
    if how == EXCLUSIVE {
        f.text(Column::CreateVerifier, x.fixed(VERIFIER)?);
        return Ok(());
    }
    settable3(x, f)
}

fn mknod(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    name(x, Column::Name, f)?;
    let ftype = x.choice(7, "a file type from 0 to 7")?;
    f.number(Column::SetFtype, ftype.into());
    match ftype {
        3 | 4 => {
            settable3(x, f)?;
            numbers(&[Column::SetRdevMajor, Column::SetRdevMinor], x, f)
        }
        6 | 7 => settable3(x, f),
        _ => Ok(()),
    }
}

fn place_in_directory(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    f.number(Column::Cookie, x.u64()?);
    f.text(Column::CookieVerifier, x.fixed(VERIFIER)?);
    Ok(())
}

fn listing(plus: bool, x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    f.text(Column::ReplyVerifier, x.fixed(VERIFIER)?);
    f.listing();
    while x.boolean()? {
        let (fileid, name, cookie) = (x.u64()?, x.string()?, x.u64()?);
        f.entry();
        f.entry_number(EntryColumn::Fileid, fileid);
        f.entry_text(EntryColumn::Name, name);
        f.entry_number(EntryColumn::Cookie, cookie);
        if plus {
            entry_attributes(x, f)?;
        }
    }
    f.number(Column::Eof, x.boolean()?.into());
    Ok(())
}

/// `name_attributes` and `name_handle` of `entryplus3`.
fn entry_attributes(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    if x.boolean()? {
        let [ftype, mode, nlink, owner, group, size, used, major, minor, fsid, _, atime, mtime, ctime] =
            fattr3(x)?;
        for (column, value) in [
            (EntryColumn::Ftype, ftype),
            (EntryColumn::Mode, mode),
            (EntryColumn::Nlink, nlink),
            (EntryColumn::Owner, owner),
            (EntryColumn::Group, group),
            (EntryColumn::Size, size),
            (EntryColumn::Used, used),
            (EntryColumn::RdevMajor, major),
            (EntryColumn::RdevMinor, minor),
            (EntryColumn::Fsid, fsid),
            (EntryColumn::Atime, atime),
            (EntryColumn::Mtime, mtime),
            (EntryColumn::Ctime, ctime),
        ] {
            f.entry_number(column, value);
        }
    }
    if x.boolean()? {
        f.entry_text(EntryColumn::Fh, handle3(x)?);
    }
    Ok(())
}

fn fsstat(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    for column in [
        Column::FsTotalBytes,
        Column::FsFreeBytes,
        Column::FsAvailableBytes,
        Column::FsTotalFiles,
        Column::FsFreeFiles,
        Column::FsAvailableFiles,
    ] {
        f.number(column, x.u64()?);
    }
    numbers(&[Column::FsInvariantSeconds], x, f)
}

fn fsinfo(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    let columns = [
        Column::FsReadMax,
        Column::FsReadPreferred,
        Column::FsReadMultiple,
        Column::FsWriteMax,
        Column::FsWritePreferred,
        Column::FsWriteMultiple,
        Column::FsReaddirPreferred,
    ];
    numbers(&columns, x, f)?;
    f.number(Column::FsMaxFileSize, x.u64()?);
    // in nanoseconds: servers answer 1
    let (seconds, nanoseconds) = (u64::from(x.u32()?), u64::from(x.u32()?));
    f.number(Column::FsTimeDelta, seconds * 1_000_000_000 + nanoseconds);
    numbers(&[Column::FsProperties], x, f)
}

fn pathconf(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    numbers(&[Column::FsLinkMax, Column::FsNameMax], x, f)?;
    for column in [
        Column::FsNoTrunc,
        Column::FsChownRestricted,
        Column::FsCaseInsensitive,
        Column::FsCasePreserving,
    ] {
        f.number(column, x.boolean()?.into());
    }
    Ok(())
}
