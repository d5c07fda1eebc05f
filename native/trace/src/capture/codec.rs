//! The layout of a message's values, shared by reader and writer.

use super::xdr::{Decoded, Fault, Xdr};
use crate::attributes::{attributes, before, Subject, ENTRY};
use crate::fields::Fields;
use crate::schema::{Column, EntryColumn};

/// `set_atime_how` and `set_mtime_how`: the server's time.
pub const SERVER_TIME: u64 = 1;

/// `set_atime_how` and `set_mtime_how`: a time that the client names.
pub const CLIENT_TIME: u64 = 2;

/// The length of a write, create or cookie verifier of version 3.
pub const VERIFIER: usize = 8;

/// The length of `fattr3` on the wire.
const FATTR3: usize = 84;

/// Reads a message's values into columns, or writes them from columns, in the order of the wire.
pub trait Codec {
    /// Why a value could not be read or written.
    type Fault;

    /// Numbers of 32 bits.
    fn words(&mut self, columns: &[Column]) -> Result<(), Self::Fault>;
    /// Numbers of 64 bits.
    fn longs(&mut self, columns: &[Column]) -> Result<(), Self::Fault>;
    /// Times: `nfstime3`.
    fn times(&mut self, columns: &[Column]) -> Result<(), Self::Fault>;
    /// Booleans.
    fn flags(&mut self, columns: &[Column]) -> Result<(), Self::Fault>;
    /// A number from 0 to `most`, which is returned; `expected` names it.
    fn choice(
        &mut self,
        column: Column,
        most: u32,
        expected: &'static str,
    ) -> Result<u32, Self::Fault>;
    /// A file handle.
    fn handle(&mut self, column: Column) -> Result<(), Self::Fault>;
    /// A name or a path.
    fn string(&mut self, column: Column) -> Result<(), Self::Fault>;
    /// A verifier.
    fn verifier(&mut self, column: Column) -> Result<(), Self::Fault>;
    /// A flag whether these columns follow, then the columns.
    fn optional(
        &mut self,
        columns: impl IntoIterator<Item = Column>,
        each: impl FnOnce(&mut Self) -> Result<(), Self::Fault>,
    ) -> Result<(), Self::Fault>;
    /// `set_atime` or `set_mtime`.
    fn set_time(&mut self, how: Column, time: Column) -> Result<(), Self::Fault>;
    /// `time_delta`, in nanoseconds.
    fn time_delta(&mut self) -> Result<(), Self::Fault>;
    /// `wcc_attr`: all of the attributes before an operation, or none.
    fn before(&mut self, subject: Subject) -> Result<(), Self::Fault>;
    /// `fattr3`: all of an object's attributes, or none.
    fn attributes(&mut self, subject: Subject) -> Result<(), Self::Fault>;
    /// The entries of a directory; for READDIRPLUS with their attributes and handles.
    fn entries(&mut self, plus: bool) -> Result<(), Self::Fault>;
    /// A file's data, whose length is in a column.
    fn data(&mut self, length: Column) -> Result<(), Self::Fault>;
}

/// Reads a message's values into its fields.
pub struct Reader<'x, 'a> {
    /// The message.
    pub x: &'x mut Xdr<'a>,
    /// The values read so far.
    pub f: &'x mut Fields,
}

impl Reader<'_, '_> {
    /// `name_attributes` and `name_handle` of `entryplus3`.
    fn entry_attributes(&mut self) -> Decoded<()> {
        if self.x.boolean()? {
            for (column, value) in ENTRY.into_iter().zip(fattr3(self.x)?) {
                if column != EntryColumn::Fileid {
                    self.f.entry_number(column, value);
                }
            }
        }
        if self.x.boolean()? {
            self.f.entry_text(EntryColumn::Fh, handle3(self.x)?);
        }
        Ok(())
    }
}

impl Codec for Reader<'_, '_> {
    type Fault = Fault;

    fn words(&mut self, columns: &[Column]) -> Decoded<()> {
        for &column in columns {
            self.f.number(column, self.x.u32()?.into());
        }
        Ok(())
    }

    fn longs(&mut self, columns: &[Column]) -> Decoded<()> {
        for &column in columns {
            self.f.number(column, self.x.u64()?);
        }
        Ok(())
    }

    fn times(&mut self, columns: &[Column]) -> Decoded<()> {
        for &column in columns {
            self.f.number(column, time3(self.x)?);
        }
        Ok(())
    }

    fn flags(&mut self, columns: &[Column]) -> Decoded<()> {
        for &column in columns {
            self.f.number(column, self.x.boolean()?.into());
        }
        Ok(())
    }

    fn choice(&mut self, column: Column, most: u32, expected: &'static str) -> Decoded<u32> {
        let value = self.x.choice(most, expected)?;
        self.f.number(column, value.into());
        Ok(value)
    }

    fn handle(&mut self, column: Column) -> Decoded<()> {
        self.f.text(column, handle3(self.x)?);
        Ok(())
    }

    fn string(&mut self, column: Column) -> Decoded<()> {
        self.f.text(column, self.x.string()?);
        Ok(())
    }

    fn verifier(&mut self, column: Column) -> Decoded<()> {
        self.f.text(column, self.x.fixed(VERIFIER)?);
        Ok(())
    }

    fn optional(
        &mut self,
        _columns: impl IntoIterator<Item = Column>,
        each: impl FnOnce(&mut Self) -> Decoded<()>,
    ) -> Decoded<()> {
        match self.x.boolean()? {
            true => each(self),
            false => Ok(()),
        }
    }

    fn set_time(&mut self, how: Column, time: Column) -> Decoded<()> {
        match u64::from(self.x.choice(2, "a way to set a time, 0 to 2")?) {
            0 => {}
            SERVER_TIME => self.f.number(how, SERVER_TIME),
            _ => {
                self.f.number(how, CLIENT_TIME);
                self.f.number(time, time3(self.x)?);
            }
        }
        Ok(())
    }

    fn time_delta(&mut self) -> Decoded<()> {
        let (seconds, nanoseconds) = (u64::from(self.x.u32()?), u64::from(self.x.u32()?));
        self.f.number(Column::FsTimeDelta, seconds * 1_000_000_000 + nanoseconds);
        Ok(())
    }

    fn before(&mut self, subject: Subject) -> Decoded<()> {
        let values = [self.x.u64()?, time3(self.x)?, time3(self.x)?];
        for (column, value) in before(subject).zip(values) {
            self.f.number(column, value);
        }
        Ok(())
    }

    fn attributes(&mut self, subject: Subject) -> Decoded<()> {
        for (column, value) in attributes(subject).zip(fattr3(self.x)?) {
            self.f.number(column, value);
        }
        Ok(())
    }

    fn entries(&mut self, plus: bool) -> Decoded<()> {
        self.f.listing();
        while self.x.boolean()? {
            let (fileid, name, cookie) = (self.x.u64()?, self.x.string()?, self.x.u64()?);
            self.f.entry();
            self.f.entry_number(EntryColumn::Fileid, fileid);
            self.f.entry_text(EntryColumn::Name, name);
            self.f.entry_number(EntryColumn::Cookie, cookie);
            if plus {
                let read = self.entry_attributes();
                end_entry(read, self.f)?;
            }
        }
        Ok(())
    }

    /// Skips file data.
    fn data(&mut self, _length: Column) -> Decoded<()> {
        Ok(())
    }
}

/// Ends a directory entry: a damaged one is dropped, a cut one stays.
pub fn end_entry(read: Decoded<()>, f: &mut Fields) -> Decoded<()> {
    if matches!(read, Err(Fault::Bad(_))) {
        f.drop_entry();
    }
    read
}

/// `nfstime3`, in microseconds.
fn time3(x: &mut Xdr) -> Decoded<u64> {
    let (seconds, nanoseconds) = (x.u32()?, x.u32()?);
    Ok(u64::from(seconds) * 1_000_000 + u64::from(nanoseconds) / 1000)
}

/// `nfs_fh3`.
fn handle3<'a>(x: &mut Xdr<'a>) -> Decoded<&'a [u8]> {
    x.opaque(64, "a file handle of at most 64 bytes")
}

/// `fattr3`, in the order of `Attribute` from its type on.
fn fattr3(x: &mut Xdr) -> Decoded<[u64; 14]> {
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
