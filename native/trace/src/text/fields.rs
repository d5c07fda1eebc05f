//! The keys and values of a line, up to its trailer.

use super::line::Line;
use super::value::{number, quoted, time, unhex, Fraction};
use super::words::{Direction, ACCESS};
use super::{trailer, Damage};
use crate::attributes::{self, Attribute, Subject};
use crate::fields::Fields;
use crate::form::Form;
use crate::message::Procedure;
use crate::schema::{Column, EntryColumn, Kind, Op, ENTRY_COLUMNS};

/// Until 2003-09-09 00:00 UTC nfsdump printed the two halves of a setattr's size exchanged.
const SIZES_MENDED: i64 = 1_063_065_600_000_000;

const BAD_NUMBER: Damage = ("bad-number", "a hexadecimal number that fits its field");
const BAD_TIME: Damage = ("bad-time", "a time, seconds.microseconds");
const NO_TRAILER: Damage = ("no-trailer", "the trailer, con = … len = …, at the end");

/// Reads a line's keys and values, and their form, into `out`; returns whether its packet was cut
/// short. `text` is the whole line, which is stored if the values and the form do not give it.
pub fn read(line: &Line, text: &[u8], out: &mut Fields) -> Result<bool, Damage> {
    let (short, plain) = match line.procedure {
        Procedure::Nfs(op, version) => {
            let mut reader = Reader::new(line, op, version, out);
            let short = reader.read()?;
            (short, reader.plain)
        }
        Procedure::Other(_) => (other(line)?, false),
    };
    if !plain {
        out.keep(text);
    }
    Ok(short)
}

/// Skips the values of another program's message.
fn other(line: &Line) -> Result<bool, Damage> {
    let mut words = line.words;
    while !trailer::begins(words.take(), line.direction) {
        if words.rest.is_empty() {
            return Err(NO_TRAILER);
        }
    }
    trailer::read(words.rest)
}

struct Reader<'a> {
    line: &'a Line<'a>,
    op: Op,
    version: u8,
    /// The subject of the attributes being read, and the last one of them.
    subject: Option<(Subject, Attribute)>,
    /// The attributes of the subject read so far, as bits.
    seen: u32,
    form: Form,
    /// Whether the line can be printed again from the values and the form.
    plain: bool,
    /// Whether a time in it had a fraction that began with zero.
    padded: bool,
    out: &'a mut Fields,
}

impl<'a> Reader<'a> {
    fn new(line: &'a Line, op: Op, version: u8, out: &'a mut Fields) -> Reader<'a> {
        let (form, plain) = (line.form, line.plain);
        Reader { line, op, version, subject: None, seen: 0, form, plain, padded: false, out }
    }

    /// Reads to the end of the line; returns whether the packet was cut.
    fn read(&mut self) -> Result<bool, Damage> {
        let mut words = self.line.words;
        let mut short = false;
        loop {
            let before = words;
            let key = words.take();
            if !trailer::may_be_other(key) {
                self.field(key, words.take())?;
                continue;
            }
            if trailer::begins(key, self.line.direction) {
                short |= key.starts_with(b"PACKET") | trailer::read(words.rest)?;
                self.plain &= !short;
                self.end(before.rest, before.spaced);
                return Ok(short);
            }
            match key {
                b"" => return Err(NO_TRAILER),
                key if trailer::is_mark(key) => self.plain = false,
                b"SHORT" => short = true,
                key => self.field(key, words.take())?,
            }
        }
    }

    #[inline]
    fn field(&mut self, key: &[u8], value: &[u8]) -> Result<(), Damage> {
        match self.line.direction {
            Direction::Call => self.call(key, value),
            Direction::Reply => self.reply(key, value),
        }
    }

    /// Records the line's form, from the spaces before its trailer on.
    fn end(&mut self, rest: &[u8], spaced: bool) {
        let two = rest.starts_with(b"  ");
        self.form = self.form.with(Form::TWO_SPACES, two);
        let mixed = self.padded && self.form.has(Form::UNPADDED_TIMES);
        let status = match self.line.direction {
            Direction::Call => None,
            Direction::Reply => Some(self.line.status.unwrap_or(0)),
        };
        // nfsdump printed two spaces in replies alone
        self.plain &= !(spaced || mixed || (two && status.is_none()));
        if !self.plain {
            return;
        }
        let whole = &rest[1 + usize::from(two)..];
        match trailer::printed(whole, status, &mut self.out.line) {
            Some(printed) => {
                self.out.printed = printed;
                self.out.printed.form = self.form | printed.form;
            }
            None => self.plain = false,
        }
    }

    fn call(&mut self, key: &[u8], value: &[u8]) -> Result<(), Damage> {
        let second = self.version == 2;
        let symlink = self.op == Op::Symlink;
        let (column, usual) = match key {
            b"fh" => (Column::Fh, self.op != Op::Commit),
            b"file" => (Column::Fh, self.op == Op::Commit),
            b"name" => (Column::Name, !second),
            b"fn" => (Column::Name, second),
            b"euid" => (Column::Uid, true),
            b"egid" => (Column::Gid, true),
            b"off" => (Column::Offset, !second),
            b"offset" => (Column::Offset, second),
            b"count" => (Column::Count, true),
            b"acc" => return self.access(Column::Access, value),
            b"fh2" => (Column::Fh2, true),
            b"name2" => (Column::Name2, !second),
            b"fn2" if symlink => (Column::Target, second), // the path that the link holds
            b"fn2" => (Column::Name2, second),
            b"sdata" => (Column::Target, symlink && !second),
            b"begoff" => (Column::BeginOffset, true),
            b"tcount" => (Column::TotalCount, true),
            b"maxcnt" => (Column::MaxCount, true),
            b"cookie" if second => return self.cookie(value),
            b"cookie" => (Column::Cookie, true),
            b"mode" => (Column::SetMode, true),
            b"uid" => (Column::SetOwner, true),
            b"gid" => (Column::SetGroup, true),
            b"size" => return self.set_size(value),
            b"how" => return self.letter(Column::How, value, b"UGX"),
            b"stable" => return self.letter(Column::Stable, value, b"UDF"),
            b"atime" => return self.set_time(Column::SetAtime, Column::SetAtimeHow, value),
            b"mtime" => return self.set_time(Column::SetMtime, Column::SetMtimeHow, value),
            _ => return Err(("unknown-field", "a field of an NFS call")),
        };
        self.plain &= usual;
        self.single(column, value)
    }

    fn reply(&mut self, key: &[u8], value: &[u8]) -> Result<(), Damage> {
        if let Some((_, last)) = self.subject {
            // attributes stand in one order: try what comes next before anything else
            if let Some(next) = last.next().filter(|next| next.is(key)) {
                return self.attribute(next, value);
            }
        }
        let column = match key {
            b"fh" => Column::NewFh,
            b"name" => {
                self.plain &= self.op == Op::Readlink;
                Column::Target
            }
            b"count" => Column::ReplyCount,
            b"eof" => {
                self.plain &= matches!(value, b"0" | b"1");
                Column::Eof
            }
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
        self.single(column, value)
    }

    /// Reads an attribute: `pre-size` and `ftype` begin those of the next object.
    fn attribute(&mut self, attribute: Attribute, value: &[u8]) -> Result<(), Damage> {
        let subject = match (self.subject, attribute) {
            (None, _) => self.first_subject(attribute),
            (Some((subject, last)), Attribute::Ftype) if last < Attribute::Ftype => subject,
            (Some((subject, _)), Attribute::PreSize | Attribute::Ftype) => subject
                .next()
                .ok_or(("bad-attributes", "the attributes of at most three objects"))?,
            (Some((subject, _)), _) => subject,
        };
        if self.subject.is_none_or(|(last, _)| last != subject) {
            self.seen = 0;
        }
        self.plain &= self.seen & 1 << attribute as u32 == 0;
        self.seen |= 1 << attribute as u32;
        self.subject = Some((subject, attribute));
        self.value(attributes::column(subject, attribute), value)
    }

    /// The subject of the first attributes: the object, if the reply can hold its attributes.
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
        let digits = &key[dash + 1..];
        let index = std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok());
        let index: u32 = index.ok_or(UNKNOWN)?;
        self.plain &= digits[0].is_ascii_digit() && (digits[0] != b'0' || digits.len() == 1);
        let count = self.out.entries.as_ref().map_or(0, |entries| entries.count);
        if index == count {
            self.out.entry();
        } else if index + 1 != count {
            return Err(("bad-entry", "the entries of a directory, counted from 0"));
        }
        let column = match &key[..dash] {
            b"name" => EntryColumn::Name,
            b"cookie" => EntryColumn::Cookie,
            b"fh" => EntryColumn::Fh,
            name => {
                let attribute = attributes::entry().find(|(attribute, _)| attribute.is(name));
                attribute.ok_or(UNKNOWN)?.1
            }
        };
        self.plain &= !self.out.entry_has(column);
        match ENTRY_COLUMNS[column as usize].kind {
            Kind::Bytes => {
                let mut text = Vec::new();
                self.plain &= bytes(value, column == EntryColumn::Name, &mut text)?;
                self.out.entry_text(column, &text);
            }
            kind => {
                let value = self.number(kind, value)?;
                self.out.entry_number(column, value);
            }
        }
        Ok(())
    }

    /// Sets a value that a line has only once.
    fn single(&mut self, column: Column, value: &[u8]) -> Result<(), Damage> {
        self.plain &= !self.out.has(column);
        self.value(column, value)
    }

    /// Sets a number that a line has only once.
    fn once(&mut self, column: Column, number: u64) -> Result<(), Damage> {
        self.plain &= !self.out.has(column);
        self.out.number(column, number);
        Ok(())
    }

    fn value(&mut self, column: Column, value: &[u8]) -> Result<(), Damage> {
        match column.kind() {
            Kind::Bytes => {
                let name = matches!(column, Column::Name | Column::Name2 | Column::Target);
                let mut plain = true;
                self.out.text_with(column, |heap| {
                    bytes(value, name, heap).map(|as_written| plain = as_written)
                })?;
                self.plain &= plain;
            }
            kind => {
                let value = self.number(kind, value)?;
                self.out.number(column, value);
            }
        }
        Ok(())
    }

    #[inline]
    fn number(&mut self, kind: Kind, value: &[u8]) -> Result<u64, Damage> {
        let limit = match kind {
            Kind::Time => return self.time(value),
            Kind::Bool | Kind::U8 => u64::from(u8::MAX),
            Kind::U16 => u64::from(u16::MAX),
            Kind::U32 | Kind::Word => u64::from(u32::MAX),
            _ => u64::MAX,
        };
        let (number, plain) = number(value).ok_or(BAD_NUMBER)?;
        self.plain &= plain;
        if number > limit {
            return Err(BAD_NUMBER);
        }
        Ok(number)
    }

    #[inline]
    fn time(&mut self, value: &[u8]) -> Result<u64, Damage> {
        let (time, fraction) = time(value).ok_or(BAD_TIME)?;
        match fraction {
            Fraction::Either => {}
            Fraction::Padded => self.padded = true,
            Fraction::Unpadded => self.form = self.form | Form::UNPADDED_TIMES,
            Fraction::Other => self.plain = false,
        }
        Ok(time as u64)
    }

    /// Reads a position in a directory of version 2: four opaque bytes, in eight digits.
    fn cookie(&mut self, value: &[u8]) -> Result<(), Damage> {
        let (cookie, lower) = super::value::digits(value).ok_or(BAD_NUMBER)?;
        self.plain &= lower && value.len() == 8;
        self.once(Column::Cookie, cookie)
    }

    fn set_size(&mut self, value: &[u8]) -> Result<(), Damage> {
        let mut size = self.number(Kind::U64, value)?;
        if self.line.envelope.time < SIZES_MENDED && size & 0xffff_ffff == 0 && size != 0 {
            size = size.rotate_left(32);
            self.form = self.form | Form::EXCHANGED_SIZE;
        }
        self.once(Column::SetSize, size)
    }

    /// A time to set, or `SERVER`: the server's own (RFC 1813, time_how 1; a client's is 2).
    fn set_time(&mut self, column: Column, how: Column, value: &[u8]) -> Result<(), Damage> {
        self.plain &= !self.out.has(how);
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
        self.once(column, code as u64)
    }

    /// Access bits. Early traces print one letter, in upper case, for the bit that they know; `U`
    /// stands for unknown bits.
    fn access(&mut self, column: Column, value: &[u8]) -> Result<(), Damage> {
        let letter = match value {
            [letter] => memchr::memchr(*letter, ACCESS),
            _ => None,
        };
        let bits = match letter {
            Some(bit) => 1 << bit,
            None => self.number(Kind::U32, value)?,
        };
        self.form = self.form.with(Form::LETTER, letter.is_some());
        self.once(column, bits)
    }
}

/// Reads a quoted name, or a handle in hexadecimal; returns whether it is plain for its type.
fn bytes(value: &[u8], name: bool, out: &mut Vec<u8>) -> Result<bool, Damage> {
    const BAD_NAME: Damage = ("bad-name", "a name in double quotes, with \\xx escapes");
    const BAD_HANDLE: Damage = ("bad-handle", "a file handle in hexadecimal digits, two a byte");
    match value.first() {
        // a handle of no bytes is printed as an empty name
        Some(b'"') => Ok(quoted(value, out).ok_or(BAD_NAME)? && (name || value.len() == 2)),
        Some(_) => Ok(unhex(value, out).ok_or(BAD_HANDLE)? && !name),
        None => Err(BAD_HANDLE),
    }
}
