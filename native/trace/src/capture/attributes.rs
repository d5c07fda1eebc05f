//! The structures that many NFS procedures share: attributes, weak cache data, settable
//! attributes, handles and times (RFC 1094 section 2.3, RFC 1813 section 2.6).

use super::xdr::{Decoded, Fault, Xdr};
use crate::attributes::{columns, Attribute, Subject};
use crate::fields::Fields;
use crate::schema::Column;

/// The length of `fattr3` on the wire.
const FATTR3: usize = 84;

/// `set_atime_how` and `set_mtime_how`: the server's time.
const SERVER_TIME: u64 = 1;

/// `set_atime_how` and `set_mtime_how`: a time that the client names.
const CLIENT_TIME: u64 = 2;

/// `nfstime3`, in microseconds.
pub fn time3(x: &mut Xdr) -> Decoded<u64> {
    let (seconds, nanoseconds) = (x.u32()?, x.u32()?);
    Ok(u64::from(seconds) * 1_000_000 + u64::from(nanoseconds) / 1000)
}

/// `timeval` of version 2, in microseconds.
fn time2(x: &mut Xdr) -> Decoded<u64> {
    let (seconds, microseconds) = (x.u32()?, x.u32()?);
    Ok(u64::from(seconds) * 1_000_000 + u64::from(microseconds))
}

/// `nfs_fh3`.
pub fn handle3<'a>(x: &mut Xdr<'a>) -> Decoded<&'a [u8]> {
    x.opaque(64, "a file handle of at most 64 bytes")
}

/// `fattr3`, in the order of [`Attribute`] from its type on.
pub fn fattr3(x: &mut Xdr) -> Decoded<[u64; 14]> {
    let mut x = Xdr::new(x.fixed(FATTR3)?);
    let ftype = x.u32()?;
    if !(1..=7).contains(&ftype) {
        return Err(Fault::Bad("a file type from 1 to 7"));
    }
    let (mode, nlink, uid, gid) = (x.u32()?, x.u32()?, x.u32()?, x.u32()?);
    let (size, used, major, minor) = (x.u64()?, x.u64()?, x.u32()?, x.u32()?);
    let (fsid, fileid) = (x.u64()?, x.u64()?);
    let (atime, mtime, ctime) = (time3(&mut x)?, time3(&mut x)?, time3(&mut x)?);
    let [ftype, mode, nlink, uid, gid, major, minor] =
        [ftype, mode, nlink, uid, gid, major, minor].map(u64::from);
    Ok([ftype, mode, nlink, uid, gid, size, used, major, minor, fsid, fileid, atime, mtime, ctime])
}

/// `fattr3`, required.
pub fn attributes3(x: &mut Xdr, subject: Subject, f: &mut Fields) -> Decoded<()> {
    for (column, value) in columns(subject, Attribute::Ftype).zip(fattr3(x)?) {
        f.number(column, value);
    }
    Ok(())
}

/// `post_op_attr`.
pub fn post_op(x: &mut Xdr, subject: Subject, f: &mut Fields) -> Decoded<()> {
    if x.boolean()? {
        attributes3(x, subject, f)?;
    }
    Ok(())
}

/// `wcc_data`: some attributes before the operation, all after it.
pub fn wcc(x: &mut Xdr, subject: Subject, f: &mut Fields) -> Decoded<()> {
    if x.boolean()? {
        let before = [x.u64()?, time3(x)?, time3(x)?];
        for (column, value) in columns(subject, Attribute::PreSize).zip(before) {
            f.number(column, value);
        }
    }
    post_op(x, subject, f)
}

/// `sattr3`.
pub fn settable3(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    for column in [Column::SetMode, Column::SetOwner, Column::SetGroup] {
        if x.boolean()? {
            f.number(column, x.u32()?.into());
        }
    }
    if x.boolean()? {
        f.number(Column::SetSize, x.u64()?);
    }
    for (how, time) in
        [(Column::SetAtimeHow, Column::SetAtime), (Column::SetMtimeHow, Column::SetMtime)]
    {
        match u64::from(x.choice(2, "a way to set a time, 0 to 2")?) {
            0 => {}
            SERVER_TIME => f.number(how, SERVER_TIME),
            _ => {
                f.number(how, CLIENT_TIME);
                f.number(time, time3(x)?);
            }
        }
    }
    Ok(())
}

/// `fattr` of version 2, which only the object itself ever has.
pub fn attributes2(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
    f.number(Column::Ftype, x.choice(8, "a file type from 0 to 8")?.into());
    for column in [
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
    ] {
        f.number(column, x.u32()?.into());
    }
    for column in [Column::Atime, Column::Mtime, Column::Ctime] {
        f.number(column, time2(x)?);
    }
    Ok(())
}

/// `sattr` of version 2, in which all ones mean "leave as it is", and a million microseconds
/// (as Sun's and Linux's clients send them) the server's time.
pub fn settable2(x: &mut Xdr, f: &mut Fields) -> Decoded<()> {
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
                f.number(time, u64::from(seconds) * 1_000_000 + u64::from(microseconds));
            }
        }
    }
    Ok(())
}
