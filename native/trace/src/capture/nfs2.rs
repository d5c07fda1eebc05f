//! Arguments and results of NFS version 2 (RFC 1094 section 2.2).

use super::attributes::{attributes2, settable2};
use super::xdr::{Decoded, Fault, Xdr};
use crate::fields::Fields;
use crate::schema::{Column, EntryColumn, Op};

/// The length of a file handle.
const HANDLE: usize = 32;

/// The arguments of a call.
pub fn arguments(op: Op, x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    if matches!(op, Op::Null | Op::Root | Op::Writecache) {
        return Ok(());
    }
    f.text(Column::Fh, x.fixed(HANDLE)?);
    match op {
        Op::Getattr | Op::Readlink | Op::Fsstat => Ok(()),
        Op::Setattr => settable2(x, f),
        Op::Lookup | Op::Remove | Op::Rmdir => name(x, Column::Name, f),
        Op::Create | Op::Mkdir => {
            name(x, Column::Name, f)?;
            settable2(x, f)
        }
        Op::Symlink => {
            name(x, Column::Name, f)?;
            name(x, Column::Target, f)?;
            settable2(x, f)
        }
        Op::Rename => {
            name(x, Column::Name, f)?;
            f.text(Column::Fh2, x.fixed(HANDLE)?);
            name(x, Column::Name2, f)
        }
        Op::Link => {
            f.text(Column::Fh2, x.fixed(HANDLE)?);
            name(x, Column::Name, f)
        }
        Op::Read => numbers(&[Column::Offset, Column::Count, Column::TotalCount], x, f),
        // the last number is the length of the data that follow
        Op::Write => {
            let columns = [Column::BeginOffset, Column::Offset, Column::TotalCount, Column::Count];
            numbers(&columns, x, f)
        }
        Op::Readdir => numbers(&[Column::Cookie, Column::Count], x, f),
        _ => Err(Fault::Bad("a procedure of NFS version 2")),
    }
}

/// The results of a reply whose status is OK; with another status, version 2 gives none.
pub fn results(op: Op, x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    match op {
        Op::Getattr | Op::Setattr | Op::Write => attributes2(x, f),
        Op::Lookup | Op::Create | Op::Mkdir => {
            f.text(Column::NewFh, x.fixed(HANDLE)?);
            attributes2(x, f)
        }
        Op::Readlink => name(x, Column::Target, f),
        // the number is the length of the data that follow
        Op::Read => {
            attributes2(x, f)?;
            numbers(&[Column::ReplyCount], x, f)
        }
        Op::Readdir => listing(x, f),
        Op::Fsstat => {
            let columns = [
                Column::FsTransferSize,
                Column::FsBlockSize,
                Column::FsBlocks,
                Column::FsFreeBlocks,
                Column::FsAvailableBlocks,
            ];
            numbers(&columns, x, f)
        }
        _ => Ok(()),
    }
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

fn listing(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
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
