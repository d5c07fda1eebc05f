//! Arguments and results of NFS version 2 (RFC 1094 section 2.2).

use super::codec::{Codec, Reader, CLIENT_TIME, SERVER_TIME};
use super::xdr::{Decoded, Fault};
use crate::schema::{Column, EntryColumn, Op};

/// The length of a file handle.
const HANDLE: usize = 32;

/// The arguments of a call.
pub fn arguments(op: Op, r: &mut Reader) -> Decoded<()> {
    if matches!(op, Op::Null | Op::Root | Op::Writecache) {
        return Ok(());
    }
    handle(Column::Fh, r)?;
    match op {
        Op::Getattr | Op::Readlink | Op::Fsstat => Ok(()),
        Op::Setattr => settable(r),
        Op::Lookup | Op::Remove | Op::Rmdir => r.string(Column::Name),
        Op::Create | Op::Mkdir => {
            r.string(Column::Name)?;
            settable(r)
        }
        Op::Symlink => {
            r.string(Column::Name)?;
            r.string(Column::Target)?;
            settable(r)
        }
        Op::Rename => {
            r.string(Column::Name)?;
            handle(Column::Fh2, r)?;
            r.string(Column::Name2)
        }
        Op::Link => {
            handle(Column::Fh2, r)?;
            r.string(Column::Name)
        }
        Op::Read => r.words(&[Column::Offset, Column::Count, Column::TotalCount]),
        // the last number is the length of the data that follow
        Op::Write => {
            let columns = [Column::BeginOffset, Column::Offset, Column::TotalCount, Column::Count];
            r.words(&columns)
        }
        Op::Readdir => r.words(&[Column::Cookie, Column::Count]),
        _ => Err(Fault::Bad("a procedure of NFS version 2")),
    }
}

/// The results of a reply whose status is OK; with another status, version 2 gives none.
pub fn results(op: Op, r: &mut Reader) -> Decoded<()> {
    match op {
        Op::Getattr | Op::Setattr | Op::Write => attributes(r),
        Op::Lookup | Op::Create | Op::Mkdir => {
            handle(Column::NewFh, r)?;
            attributes(r)
        }
        Op::Readlink => r.string(Column::Target),
        // the number is the length of the data that follow
        Op::Read => {
            attributes(r)?;
            r.words(&[Column::ReplyCount])
        }
        Op::Readdir => listing(r),
        Op::Fsstat => r.words(&[
            Column::FsTransferSize,
            Column::FsBlockSize,
            Column::FsBlocks,
            Column::FsFreeBlocks,
            Column::FsAvailableBlocks,
        ]),
        _ => Ok(()),
    }
}

fn handle(column: Column, r: &mut Reader) -> Decoded<()> {
    r.f.text(column, r.x.fixed(HANDLE)?);
    Ok(())
}

fn listing(Reader { x, f }: &mut Reader) -> Decoded<()> {
    f.listing();
    while x.boolean()? {
        let (fileid, name, cookie) = (x.u32()?, x.string()?, x.u32()?);
        f.entry();
        f.entry_number(EntryColumn::Fileid, fileid.into());
        f.entry_text(EntryColumn::Name, name);
        f.entry_number(EntryColumn::Cookie, cookie.into());
    }
    f.number(Column::Eof, x.boolean()?.into());
    Ok(())
}

/// `fattr`, which only the object itself ever has.
fn attributes(r: &mut Reader) -> Decoded<()> {
    r.choice(Column::Ftype, 8, "a file type from 0 to 8")?;
    r.words(&[
        Column::Mode,
        Column::Nlink,
        Column::Owner,
        Column::Group,
        Column::Size,
        Column::Blksize,
        Column::RdevMajor,
        Column::Blocks,
        Column::Fsid,
        Column::Fileid,
    ])?;
    for column in [Column::Atime, Column::Mtime, Column::Ctime] {
        r.f.number(column, timeval(r.x.u32()?, r.x.u32()?));
    }
    Ok(())
}

/// `timeval`, in microseconds.
fn timeval(seconds: u32, microseconds: u32) -> u64 {
    u64::from(seconds) * 1_000_000 + u64::from(microseconds)
}

/// `sattr`, in which all ones mean "leave as it is", and a million microseconds
/// (as Sun's and Linux's clients send them) the server's time.
fn settable(Reader { x, f }: &mut Reader) -> Decoded<()> {
    for column in [Column::SetMode, Column::SetOwner, Column::SetGroup, Column::SetSize] {
        match x.u32()? {
            u32::MAX => {}
            value => f.number(column, value.into()),
        }
    }
    for (how, time) in
        [(Column::SetAtimeHow, Column::SetAtime), (Column::SetMtimeHow, Column::SetMtime)]
    {
        match (x.u32()?, x.u32()?) {
            (u32::MAX, _) => {}
            (_, 1_000_000) => f.number(how, SERVER_TIME),
            (seconds, microseconds) => {
                f.number(how, CLIENT_TIME);
                f.number(time, timeval(seconds, microseconds));
            }
        }
    }
    Ok(())
}
