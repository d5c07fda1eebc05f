//! The keys and values of a line, in the order in which nfsdump prints them.

use super::super::words::ACCESS;
use super::print;
use super::values::Values;
use crate::attributes::{self, Attribute, Subject};
use crate::form::Form;
use crate::schema::{Column, EntryColumn, Kind, Op, ENTRY_COLUMNS};

/// The fields of a directory entry that version 1.2.0c prints, in its order.
const ENTRY: [EntryColumn; 4] =
    [EntryColumn::Fileid, EntryColumn::Name, EntryColumn::Cookie, EntryColumn::Fh];

/// Prints the fields of one line.
pub struct Fields<'a> {
    /// The procedure.
    pub op: Op,
    /// The version of NFS.
    pub version: u8,
    /// The line's form.
    pub form: Form,
    /// Whether to print everything that has a key.
    pub all: bool,
    /// The output.
    pub out: &'a mut Vec<u8>,
}

impl Fields<'_> {
    /// Prints a call's fields.
    pub fn call(&mut self, v: &impl Values) {
        let second = self.version == 2;
        let (name, name2) = if second { ("fn", "fn2") } else { ("name", "name2") };
        self.bytes(if self.op == Op::Commit { "file" } else { "fh" }, Column::Fh, v);
        if self.op == Op::Link {
            self.bytes("fh2", Column::Fh2, v);
        }
        self.name(name, Column::Name, v);
        if self.op != Op::Link {
            self.bytes("fh2", Column::Fh2, v);
        }
        self.name(name2, Column::Name2, v);
        let target = self.op == Op::Symlink; // in other rows it is what readlink returned
        if second && target {
            self.name("fn2", Column::Target, v);
        }
        self.place(second, v);
        if self.op != Op::Mknod || self.all {
            self.settable(v);
        }
        if target && !second {
            self.name("sdata", Column::Target, v);
        }
        self.number("euid", Column::Uid, v);
        self.number("egid", Column::Gid, v);
    }

    /// Prints the range to read or write, the position to list, or the access to test.
    fn place(&mut self, second: bool, v: &impl Values) {
        self.access(Column::Access, v);
        self.number("begoff", Column::BeginOffset, v);
        self.number(if second { "offset" } else { "off" }, Column::Offset, v);
        if second {
            // four opaque bytes, not a number
            self.padded("cookie", Column::Cookie, 8, v);
        } else {
            self.number("cookie", Column::Cookie, v);
        }
        if self.all || !(second && self.op == Op::Write) {
            self.number("count", Column::Count, v);
        }
        self.number("tcount", Column::TotalCount, v);
        self.number("maxcnt", Column::MaxCount, v);
        self.letter("stable", Column::Stable, b"UDF", v);
    }

    fn settable(&mut self, v: &impl Values) {
        self.letter("how", Column::How, b"UGX", v);
        self.number("mode", Column::SetMode, v);
        self.number("uid", Column::SetOwner, v);
        self.number("gid", Column::SetGroup, v);
        if let Some(size) = v.number(Column::SetSize) {
            let exchanged = self.form.has(Form::EXCHANGED_SIZE);
            self.key("size");
            print::hex(self.out, if exchanged { size.rotate_left(32) } else { size });
        }
        self.set_time("atime", Column::SetAtime, Column::SetAtimeHow, v);
        self.set_time("mtime", Column::SetMtime, Column::SetMtimeHow, v);
    }

    /// Prints a reply's fields.
    pub fn reply(&mut self, status: Option<u32>, v: &impl Values) {
        if status != Some(0) && !self.all {
            return;
        }
        self.bytes("fh", Column::NewFh, v);
        for subject in self.subjects() {
            for attribute in Attribute::PRINTED {
                let column = attributes::column(*subject, attribute);
                self.value(attribute.key(), column, v);
            }
        }
        self.statfs(v);
        self.number("count", Column::ReplyCount, v);
        self.letter("stable", Column::ReplyStable, b"UDF", v);
        self.access(Column::ReplyAccess, v);
        if self.op == Op::Readlink {
            self.name("name", Column::Target, v);
        }
        self.number("eof", Column::Eof, v);
        for entry in 0..v.entries() {
            self.entry(entry, v);
        }
        self.number("nfsstat", Column::RawStatus, v);
    }

    /// The subjects whose attributes version 1.2.0c prints.
    fn subjects(&self) -> &'static [Subject] {
        match self.op {
            _ if self.all => &[Subject::Object, Subject::Directory, Subject::SecondDirectory],
            Op::Access | Op::Readlink | Op::Link | Op::Rename => &[],
            Op::Fsstat | Op::Fsinfo | Op::Pathconf => &[],
            Op::Remove | Op::Rmdir => &[Subject::Directory],
            _ => &[Subject::Object],
        }
    }

    fn statfs(&mut self, v: &impl Values) {
        for (key, column) in [
            ("tsize", Column::FsTransferSize),
            ("bsize", Column::FsBlockSize),
            ("blocks", Column::FsBlocks),
            ("bfree", Column::FsFreeBlocks),
            ("bavail", Column::FsAvailableBlocks),
        ] {
            self.number(key, column, v);
        }
    }

    fn entry(&mut self, entry: usize, v: &impl Values) {
        for column in ENTRY {
            let key = ENTRY_COLUMNS[column as usize].name;
            if let Some(number) = v.entry_number(entry, column) {
                self.entry_key(key, entry);
                print::hex(self.out, number);
            } else if let Some(bytes) = v.entry_bytes(entry, column) {
                self.entry_key(key, entry);
                match column {
                    EntryColumn::Name => print::name(self.out, bytes),
                    _ => print::handle(self.out, bytes),
                }
            }
        }
        let all = self.all;
        let others = attributes::entry().filter(|(_, column)| all && !ENTRY.contains(column));
        for (attribute, column) in others {
            if let Some(number) = v.entry_number(entry, column) {
                self.entry_key(attribute.key(), entry);
                self.plain(ENTRY_COLUMNS[column as usize].kind, number);
            }
        }
    }

    fn entry_key(&mut self, key: impl AsRef<[u8]>, entry: usize) {
        self.out.push(b' ');
        self.out.extend_from_slice(key.as_ref());
        self.out.push(b'-');
        print::decimal(self.out, entry as u64, 1);
        self.out.push(b' ');
    }

    #[inline]
    fn key(&mut self, key: impl AsRef<[u8]>) {
        self.out.push(b' ');
        self.out.extend_from_slice(key.as_ref());
        self.out.push(b' ');
    }

    #[inline]
    fn plain(&mut self, kind: Kind, value: u64) {
        match kind {
            Kind::Time => {
                print::time(self.out, value as i64, !self.form.has(Form::UNPADDED_TIMES));
            }
            _ => print::hex(self.out, value),
        }
    }

    #[inline]
    fn value(&mut self, key: impl AsRef<[u8]>, column: Column, v: &impl Values) {
        if let Some(value) = v.number(column) {
            self.key(key);
            self.plain(column.kind(), value);
        }
    }

    #[inline]
    fn number(&mut self, key: impl AsRef<[u8]>, column: Column, v: &impl Values) {
        self.padded(key, column, 1, v);
    }

    #[inline]
    fn padded(&mut self, key: impl AsRef<[u8]>, column: Column, least: usize, v: &impl Values) {
        if let Some(value) = v.number(column) {
            self.key(key);
            print::hex_padded(self.out, value, least);
        }
    }

    fn bytes(&mut self, key: impl AsRef<[u8]>, column: Column, v: &impl Values) {
        if let Some(bytes) = v.bytes(column) {
            self.key(key);
            print::handle(self.out, bytes);
        }
    }

    fn name(&mut self, key: impl AsRef<[u8]>, column: Column, v: &impl Values) {
        if let Some(bytes) = v.bytes(column) {
            self.key(key);
            print::name(self.out, bytes);
        }
    }

    /// Prints a letter for a number, counted from 0; the number if there is none.
    fn letter(&mut self, key: impl AsRef<[u8]>, column: Column, letters: &[u8], v: &impl Values) {
        if let Some(value) = v.number(column) {
            self.key(key);
            match letters.get(value as usize) {
                Some(letter) => self.out.push(*letter),
                None => print::hex(self.out, value),
            }
        }
    }

    fn access(&mut self, column: Column, v: &impl Values) {
        if let Some(bits) = v.number(column) {
            self.key("acc");
            let letter = ACCESS.get(bits.trailing_zeros() as usize);
            match letter {
                Some(letter) if self.form.has(Form::LETTER) && bits.is_power_of_two() => {
                    self.out.push(*letter);
                }
                _ => print::hex(self.out, bits),
            }
        }
    }

    fn set_time(&mut self, key: impl AsRef<[u8]>, column: Column, how: Column, v: &impl Values) {
        match (v.number(how), v.number(column)) {
            (Some(1), _) => {
                self.key(key);
                self.out.extend_from_slice(b"SERVER");
            }
            (_, Some(value)) => {
                self.key(key);
                self.plain(Kind::Time, value);
            }
            _ => {}
        }
    }
}
