//! The keys and values of a line, up to its trailer.

use super::line::{word, Direction, Line};
use super::value::{hex, quoted, time, unhex};
use super::{trailer, Damage};
use crate::attributes::{self, Attribute, Subject};
use crate::fields::Fields;
use crate::join::Procedure;
use crate::schema::{Column, EntryColumn, Kind, Op, ENTRY_COLUMNS};

/// Until 2003-09-09 00:00 UTC the two halves of a setattr's size were printed exchanged.
const SIZES_MENDED: i64 = 1_063_065_600_000_000;

const BAD_NUMBER: Damage = ("bad-number", "a hexadecimal number that fits its field");
const BAD_TIME: Damage = ("bad-time", "a time, seconds.microseconds");

/// Reads a line's keys and values into `out`; returns whether its packet was cut short.
pub fn read(line: &Line, out: &mut Fields) -> Result<bool, Damage> {
    let mut rest = line.rest;
    let Procedure::Nfs(op, _) = line.procedure else {
        while !trailer::begins(word(&mut rest), line.direction) {
            if rest.is_empty() {
                return Err(("no-trailer", "the trailer, con = … len = …, at the end"));
            }
        }
        return trailer::read(rest);
    };
    let mut reader = Reader { line, op, subject: None, out };
    let mut short = false;
    loop {
        let key = word(&mut rest);
        if trailer::begins(key, line.direction) {
            short |= key.starts_with(b"PACKET");
            return Ok(trailer::read(rest)? || short);
        }
        match key {
            b"" => return Err(("no-trailer", "the trailer, con = … len = …, at the end")),
            key if trailer::is_mark(key) => {}
            b"SHORT" => short = true,
            key => {
                let value = word(&mut rest);
                match line.direction {
                    Direction::Call => reader.call(key, value)?,
                    Direction::Reply => reader.reply(key, value)?,
                }
            }
        }
    }
}

struct Reader<'a> {
    line: &'a Line<'a>,
    op: Op,
    /// Whose attributes are being read, and the last one of them.
    subject: Option<(Subject, Attribute)>,
    out: &'a mut Fields,
}

impl Reader<'_> {
    fn call(&mut self, key: &[u8], value: &[u8]) -> Result<(), Damage> {
        let column = match key {
            b"fh" | b"file" => Column::Fh,
            b"name" | b"fn" => Column::Name,
            b"euid" => Column::Uid,
            b"egid" => Column::Gid,
            b"off" | b"offset" => Column::Offset,
            b"count" => Column::Count,
            b"acc" => return self.access(Column::Access, value),
            b"fh2" => Column::Fh2,
            b"name2" | b"fn2" => Column::Name2,
            b"sdata" => Column::Target,
            b"begoff" => Column::BeginOffset,
            b"tcount" => Column::TotalCount,
            b"maxcnt" => Column::MaxCount,
            b"cookie" => Column::Cookie,
            b"mode" => Column::SetMode,
            b"uid" => Column::SetOwner,
            b"gid" => Column::SetGroup,
            b"size" => return self.set_size(value),
            b"how" => return self.letter(Column::How, value, b"UGX"),
            b"stable" => return self.letter(Column::Stable, value, b"UDF"),
            b"atime" => return self.set_time(Column::SetAtime, Column::SetAtimeHow, value),
            b"mtime" => return self.set_time(Column::SetMtime, Column::SetMtimeHow, value),
            _ => return Err(("unknown-field", "a field of an NFS call")),
        };
        self.value(column, value)
    }

    fn reply(&mut self, key: &[u8], value: &[u8]) -> Result<(), Damage> {
        if let Some((_, last)) = self.subject {
            // attributes stand in one order: try what comes next before anything else
            if let Some(next) = last.next().filter(|next| next.key() == key) {
                return self.attribute(next, value);
            }
        }
        let column = match key {
            b"fh" => Column::NewFh,
            b"name" => Column::Target,
            b"count" => Column::ReplyCount,
            b"eof" => Column::Eof,
            b"stable" => return self.letter(Column::ReplyStable, value, b"UDF"),
            b"acc" => return self.access(Column::ReplyAccess, value),
            b"tsize" => Column::FsTransferSize,
            b"bsize" => Column::FsBlockSize,
            b"blocks" if self.op == Op::Fsstat => Column::FsBlocks,
            b"bfree" => Column::FsFreeBlocks,
            b"bavail" => Column::FsAvailableBlocks,
            b"nfsstat" => Column::RawStatus,
            key => match Attribute::of(key) {
                Some(attribute) => return self.attribute(attribute, value),
                None => return self.entry(key, value),
            },
        };
        self.value(column, value)
    }

    /// An attribute: `pre-size` and `ftype` begin those of the next object.
    fn attribute(&mut self, attribute: Attribute, value: &[u8]) -> Result<(), Damage> {
        let subject = match (self.subject, attribute) {
            (None, _) => self.first_subject(attribute),
            (Some((subject, last)), Attribute::Ftype) if last < Attribute::Ftype => subject,
            (Some((subject, _)), Attribute::PreSize | Attribute::Ftype) => subject
                .next()
                .ok_or(("bad-attributes", "the attributes of at most three objects"))?,
            (Some((subject, _)), _) => subject,
        };
        self.subject = Some((subject, attribute));
        self.value(attributes::column(subject, attribute), value)
    }

    /// Whose attributes come first: the object's, where the reply can hold them.
    fn first_subject(&self, attribute: Attribute) -> Subject {
        let failed = self.line.status != Some(0);
        match self.op {
            Op::Remove | Op::Rmdir | Op::Rename => Subject::Directory,
            Op::Lookup if failed => Subject::Directory,
            Op::Create | Op::Mkdir | Op::Symlink | Op::Mknod
                if failed || attribute == Attribute::PreSize =>
            {
                Subject::Directory
            }
            _ => Subject::Object,
        }
    }

    /// A directory entry's field, `name-0`.
    fn entry(&mut self, key: &[u8], value: &[u8]) -> Result<(), Damage> {
        const UNKNOWN: Damage = ("unknown-field", "a field of an NFS reply");
        let dash = memchr::memrchr(b'-', key).ok_or(UNKNOWN)?;
        let index = std::str::from_utf8(&key[dash + 1..]).ok().and_then(|text| text.parse().ok());
        let index: u32 = index.ok_or(UNKNOWN)?;
        let count = self.out.entries.as_ref().map_or(0, |entries| entries.count);
        if index == count {
            self.out.entry();
        } else if index + 1 != count {
            return Err(("bad-entry", "the entries of a directory, counted from 0"));
        }
        let column = match &key[..dash] {
            b"uid" => EntryColumn::Owner,
            b"gid" => EntryColumn::Group,
            b"rdev" => EntryColumn::RdevMajor,
            b"rdev2" => EntryColumn::RdevMinor,
            name => crate::schema::entry_column(name).ok_or(UNKNOWN)?,
        };
        match ENTRY_COLUMNS[column as usize].2 {
            Kind::Bytes => {
                let mut text = Vec::new();
                bytes(value, &mut text)?;
                self.out.entry_text(column, &text);
            }
            kind => self.out.entry_number(column, number(kind, value)?),
        }
        Ok(())
    }

    fn value(&mut self, column: Column, value: &[u8]) -> Result<(), Damage> {
        match column.kind() {
            Kind::Bytes => self.out.text_with(column, |heap| bytes(value, heap)),
            kind => {
                self.out.number(column, number(kind, value)?);
                Ok(())
            }
        }
    }

    fn set_size(&mut self, value: &[u8]) -> Result<(), Damage> {
        let mut size = number(Kind::U64, value)?;
        if self.line.envelope.time < SIZES_MENDED && size & 0xffff_ffff == 0 {
            size = size.rotate_left(32);
        }
        self.out.number(Column::SetSize, size);
        Ok(())
    }

    /// A time to set, or `SERVER`: the server's own (RFC 1813, time_how 1; a client's is 2).
    fn set_time(&mut self, column: Column, how: Column, value: &[u8]) -> Result<(), Damage> {
        if value == b"SERVER" {
            self.out.number(how, 1);
            return Ok(());
        }
        self.out.number(how, 2);
        self.value(column, value)
    }

    /// A letter that stands for a number, counted from 0.
    fn letter(&mut self, column: Column, value: &[u8], letters: &[u8]) -> Result<(), Damage> {
        const EXPECTED: Damage = ("bad-letter", "one of the letters that stand for this field");
        let [letter] = value else {
            return Err(EXPECTED);
        };
        let code = memchr::memchr(*letter, letters).ok_or(EXPECTED)?;
        self.out.number(column, code as u64);
        Ok(())
    }

    /// Access bits. Early traces print one letter, in upper case, for the bit that they know;
    /// `U` stands for bits that they do not.
    fn access(&mut self, column: Column, value: &[u8]) -> Result<(), Damage> {
        let bits = match value {
            b"R" => 1,
            b"L" => 2,
            b"M" => 4,
            b"E" => 8,
            b"D" => 16,
            b"X" => 32,
            b"U" => 64,
            value => number(Kind::U32, value)?,
        };
        self.out.number(column, bits);
        Ok(())
    }
}

fn number(kind: Kind, value: &[u8]) -> Result<u64, Damage> {
    if kind == Kind::Time {
        return time(value).map(|time| time as u64).ok_or(BAD_TIME);
    }
    let limit = match kind {
        Kind::Bool | Kind::U8 => u64::from(u8::MAX),
        Kind::U16 => u64::from(u16::MAX),
        Kind::U32 | Kind::Word => u64::from(u32::MAX),
        _ => u64::MAX,
    };
    hex(value).filter(|number| *number <= limit).ok_or(BAD_NUMBER)
}

/// A quoted name, or a handle in hexadecimal.
fn bytes(value: &[u8], out: &mut Vec<u8>) -> Result<(), Damage> {
    match value.first() {
        Some(b'"') if quoted(value, out) => Ok(()),
        Some(b'"') => Err(("bad-name", "a name in double quotes, with \\xx escapes")),
        Some(_) if unhex(value, out) => Ok(()),
        _ => Err(("bad-handle", "a file handle in hexadecimal digits, two a byte")),
    }
}
