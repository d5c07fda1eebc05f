//! The contents of one message: columns and their values, in the order of the wire.

use crate::form::{Form, Printed};
use crate::schema::{Column, EntryColumn, Op};

/// The values of one call or reply. One is reused for many messages: [`Fields::clear`] keeps its
/// memory.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// Numbers, times, booleans (0 or 1) and words (their code).
    pub numbers: Vec<(Column, u64)>,
    /// Byte strings, as start and length in `heap`.
    pub bytes: Vec<(Column, u32, u32)>,
    /// AUTH_UNIX's further groups; `None` where the message has no credentials.
    pub gids: Option<Vec<u32>>,
    /// Directory entries; `None` where the message is no readdir reply.
    pub entries: Option<Entries>,
    /// The operations of a compound; values before the first belong to the whole message.
    pub parts: Vec<Part>,
    /// The number of operations that a compound declares, if it was read.
    pub declared: Option<u32>,
    /// The form of the message's line, in text.
    pub printed: Printed,
    /// The line itself, if the values and `printed` do not give it; else empty.
    pub line: Vec<u8>,
    heap: Vec<u8>,
}

/// One operation of a compound (NFS version 4).
#[derive(Clone, Debug)]
pub struct Part {
    /// Its procedure.
    pub op: Op,
    /// Its number in the protocol.
    pub opcode: u32,
    /// Its status, in a reply.
    pub status: Option<u32>,
    /// Whether its end was unreadable.
    pub short: bool,
    entries: Option<Entries>,
    numbers: u32,
    bytes: u32,
}

/// The values of one operation in a message.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    /// As in [`Fields`].
    pub numbers: &'a [(Column, u64)],
    /// As in [`Fields`].
    pub bytes: &'a [(Column, u32, u32)],
    /// As in [`Fields`].
    pub entries: Option<&'a Entries>,
    /// The fields that the indices in `bytes` and `entries` refer to.
    pub fields: &'a Fields,
}

impl<'a> Section<'a> {
    /// The last value set for a numeric column.
    pub fn get(&self, column: Column) -> Option<u64> {
        self.numbers.iter().rev().find(|(c, _)| *c == column).map(|(_, v)| *v)
    }

    /// The last value set for a byte column.
    pub fn get_text(&self, column: Column) -> Option<&'a [u8]> {
        let (_, start, len) = self.bytes.iter().rev().find(|(c, _, _)| *c == column)?;
        Some(self.fields.slice(*start, *len))
    }
}

/// The entries of a readdir or readdirplus reply.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// The number of entries.
    pub count: u32,
    /// Entry, column and value.
    pub numbers: Vec<(u32, EntryColumn, u64)>,
    /// Entry, column, start and length in the heap of the [`Fields`].
    pub bytes: Vec<(u32, EntryColumn, u32, u32)>,
}

impl Fields {
    /// Clears everything except allocations.
    pub fn clear(&mut self) {
        self.numbers.clear();
        self.bytes.clear();
        self.heap.clear();
        self.gids = None;
        self.entries = None;
        self.parts.clear();
        self.declared = None;
        self.printed = Printed::default();
        self.line.clear();
    }

    /// The bytes of a call, which has no directory entries.
    pub fn memory(&self) -> usize {
        let gids = self.gids.as_ref().map_or(0, Vec::capacity);
        size_of::<Fields>()
            + self.numbers.capacity() * size_of::<(Column, u64)>()
            + self.bytes.capacity() * size_of::<(Column, u32, u32)>()
            + self.parts.capacity() * size_of::<Part>()
            + 4 * gids
            + self.line.capacity()
            + self.heap.capacity()
    }

    /// Begins an operation of a compound, and ends it after `read`.
    pub fn part<E>(
        &mut self,
        (op, opcode, status): (Op, u32, Option<u32>),
        read: impl FnOnce(&mut Fields) -> Result<(), E>,
    ) -> Result<(), E> {
        let (numbers, bytes) = (self.numbers.len() as u32, self.bytes.len() as u32);
        let read = read(self);
        let (short, entries) = (read.is_err(), self.entries.take());
        self.parts.push(Part { op, opcode, status, short, entries, numbers, bytes });
        read
    }

    /// The values of an operation of a compound.
    pub fn section(&self, index: usize) -> Option<Section<'_>> {
        let part = self.parts.get(index)?;
        let (numbers, bytes) = self.starts(index + 1);
        Some(Section {
            numbers: &self.numbers[part.numbers as usize..numbers],
            bytes: &self.bytes[part.bytes as usize..bytes],
            entries: part.entries.as_ref(),
            fields: self,
        })
    }

    /// The values of the whole message, without the operations of a compound.
    #[inline]
    pub fn whole(&self) -> Section<'_> {
        let (numbers, bytes) = self.starts(0);
        Section {
            numbers: &self.numbers[..numbers],
            bytes: &self.bytes[..bytes],
            entries: self.entries.as_ref(),
            fields: self,
        }
    }

    /// The begin of an operation's values; the end of all if there is none.
    #[inline]
    fn starts(&self, index: usize) -> (usize, usize) {
        match self.parts.get(index) {
            Some(part) => (part.numbers as usize, part.bytes as usize),
            None => (self.numbers.len(), self.bytes.len()),
        }
    }

    /// Sets a number, a time (`i64 as u64`), a boolean or a word's code. Setting a column twice
    /// keeps the later value.
    #[inline]
    pub fn number(&mut self, column: Column, value: u64) {
        self.numbers.push((column, value));
    }

    /// Sets a byte string.
    #[inline]
    pub fn text(&mut self, column: Column, value: &[u8]) {
        let (start, len) = self.store(value);
        self.bytes.push((column, start, len));
    }

    /// Sets a byte string to what `write` adds to the heap, unless it fails.
    #[inline]
    pub fn text_with<E>(
        &mut self,
        column: Column,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.heap.len();
        write(&mut self.heap)?;
        self.bytes.push((column, start as u32, (self.heap.len() - start) as u32));
        Ok(())
    }

    /// Begins the next directory entry, to which [`Fields::entry_number`] and
    /// [`Fields::entry_text`] then refer.
    pub fn entry(&mut self) {
        self.entries.get_or_insert_default().count += 1;
    }

    /// Drops the current directory entry: it is damaged.
    pub fn drop_entry(&mut self) {
        let Some(entries) = &mut self.entries else {
            return;
        };
        entries.count = entries.count.saturating_sub(1);
        let count = entries.count;
        entries.numbers.retain(|(entry, ..)| *entry < count);
        entries.bytes.retain(|(entry, ..)| *entry < count);
    }

    /// Whether a part of the message was read completely: an operation of a compound, or an entry
    /// of a directory.
    pub fn holds_parts(&self) -> bool {
        self.parts.iter().any(|part| !part.short)
            || self.entries.as_ref().is_some_and(|entries| entries.count > 0)
    }

    /// Marks the message as a directory listing, even without entries.
    pub fn listing(&mut self) {
        self.entries.get_or_insert_default();
    }

    /// Sets a number of the current entry.
    pub fn entry_number(&mut self, column: EntryColumn, value: u64) {
        let entries = self.entries.get_or_insert_default();
        entries.numbers.push((entries.count.saturating_sub(1), column, value));
    }

    /// Sets a byte string of the current entry.
    pub fn entry_text(&mut self, column: EntryColumn, value: &[u8]) {
        let (start, len) = self.store(value);
        let entries = self.entries.get_or_insert_default();
        entries.bytes.push((entries.count.saturating_sub(1), column, start, len));
    }

    /// Stores the message's line, which the values do not give.
    pub fn keep(&mut self, line: &[u8]) {
        self.printed = Printed { form: Form::TEXT, ..Printed::default() };
        self.line.clear();
        self.line.extend_from_slice(line);
    }

    /// Whether a column has been set.
    #[inline]
    pub fn has(&self, column: Column) -> bool {
        self.numbers.iter().any(|(c, _)| *c == column)
            || self.bytes.iter().any(|(c, _, _)| *c == column)
    }

    /// Whether a column of the current entry has been set.
    pub fn entry_has(&self, column: EntryColumn) -> bool {
        let Some(entries) = &self.entries else {
            return false;
        };
        let current = entries.count.saturating_sub(1);
        let (numbers, bytes) = (entries.numbers.iter().rev(), entries.bytes.iter().rev());
        numbers.take_while(|(entry, ..)| *entry == current).any(|(_, c, _)| *c == column)
            || bytes.take_while(|(entry, ..)| *entry == current).any(|(_, c, ..)| *c == column)
    }

    /// The bytes that a start and a length name.
    #[inline]
    pub fn slice(&self, start: u32, len: u32) -> &[u8] {
        &self.heap[start as usize..(start + len) as usize]
    }

    /// All byte strings, one after the other.
    pub fn heap(&self) -> &[u8] {
        &self.heap
    }

    /// The last value set for a numeric column.
    pub fn get(&self, column: Column) -> Option<u64> {
        self.all().get(column)
    }

    /// The last value set for a byte column.
    pub fn get_text(&self, column: Column) -> Option<&[u8]> {
        self.all().get_text(column)
    }

    fn all(&self) -> Section<'_> {
        let Fields { numbers, bytes, entries, .. } = self;
        Section { numbers, bytes, entries: entries.as_ref(), fields: self }
    }

    fn store(&mut self, value: &[u8]) -> (u32, u32) {
        let start = self.heap.len() as u32;
        self.heap.extend_from_slice(value);
        (start, value.len() as u32)
    }
}
