//! Encodes a row's values into one message.

use super::super::codec::{Codec, CLIENT_TIME, VERIFIER};
use super::words::Words;
use crate::attributes::{attributes, before, Subject, ENTRY};
use crate::rows::{Entry, Row};
use crate::schema::{Column, EntryColumn, Kind, ENTRY_COLUMNS};
use std::convert::Infallible;

type Written = Result<(), Infallible>;

/// Writes a row's values; a null becomes zero or empty.
pub struct Encoder<'a> {
    /// The operation.
    pub row: Row<'a>,
    /// The message so far.
    pub words: Words,
    /// Zero bytes that follow: the data of a file.
    pub zeros: usize,
    /// The most data to write.
    most_data: usize,
    /// The end of the last value that the row has.
    pub known: usize,
    /// Whether the row lacks a value that the message must have.
    pub lacking: bool,
}

impl<'a> Encoder<'a> {
    /// Returns a message that begins with these words, with at most `most_data` bytes of data.
    pub fn new(row: Row<'a>, words: Words, most_data: usize) -> Encoder<'a> {
        let known = words.0.len();
        Encoder { row, words, zeros: 0, most_data, known, lacking: false }
    }

    /// Records that the message is known up to here.
    pub fn account(&mut self, known: bool) {
        self.lacking |= !known;
        if known {
            self.known = self.words.0.len();
        }
    }

    fn numbers(&mut self, columns: &[Column], put: impl Fn(&mut Words, u64)) -> Written {
        for &column in columns {
            let value = self.row.number(column);
            put(&mut self.words, value.unwrap_or_default());
            self.account(value.is_some());
        }
        Ok(())
    }

    /// A number or a time, in its column's width.
    fn value(&mut self, column: Column) -> Written {
        self.numbers(&[column], |words, value| put(words, column.kind(), value))
    }

    fn bytes(&mut self, column: Column, put: impl Fn(&mut Words, &[u8])) -> Written {
        let value = self.row.bytes(column);
        put(&mut self.words, value.unwrap_or_default());
        self.account(value.is_some());
        Ok(())
    }

    /// `name_attributes` and `name_handle` of `entryplus3`.
    fn entry_attributes(&mut self, entry: &Entry) {
        let shown = ENTRY.iter().any(|&c| c != EntryColumn::Fileid && entry.number(c).is_some());
        self.words.put(&[shown.into()]);
        for column in ENTRY.into_iter().filter(|_| shown) {
            let value = entry.number(column).unwrap_or_default();
            put(&mut self.words, ENTRY_COLUMNS[column as usize].kind, value);
        }
        let handle = entry.bytes(EntryColumn::Fh);
        self.words.put(&[handle.is_some().into()]);
        if let Some(handle) = handle {
            self.words.put_opaque(handle);
        }
    }
}

impl Codec for Encoder<'_> {
    type Fault = Infallible;

    fn words(&mut self, columns: &[Column]) -> Written {
        self.numbers(columns, |words, value| words.put(&[value as u32]))
    }

    fn longs(&mut self, columns: &[Column]) -> Written {
        self.numbers(columns, Words::put_long)
    }

    fn times(&mut self, columns: &[Column]) -> Written {
        self.numbers(columns, put_time)
    }

    fn flags(&mut self, columns: &[Column]) -> Written {
        self.words(columns)
    }

    fn choice(&mut self, column: Column, _: u32, _: &'static str) -> Result<u32, Infallible> {
        self.words(&[column])?;
        Ok(self.row.number(column).unwrap_or_default() as u32)
    }

    fn handle(&mut self, column: Column) -> Written {
        self.bytes(column, Words::put_opaque)
    }

    fn string(&mut self, column: Column) -> Written {
        self.bytes(column, Words::put_opaque)
    }

    fn verifier(&mut self, column: Column) -> Written {
        self.bytes(column, |words, bytes| {
            let end = words.0.len() + VERIFIER;
            words.0.extend_from_slice(&bytes[..bytes.len().min(VERIFIER)]);
            words.0.resize(end, 0);
        })
    }

    /// Writes an optional part if the row has any of its values.
    fn optional(
        &mut self,
        columns: impl IntoIterator<Item = Column>,
        each: impl FnOnce(&mut Self) -> Written,
    ) -> Written {
        let row = self.row;
        let has = |column| row.number(column).is_some() || row.bytes(column).is_some();
        let follows = columns.into_iter().any(has);
        self.words.put(&[follows.into()]);
        match follows {
            true => each(self),
            false => Ok(()),
        }
    }

    fn set_time(&mut self, how: Column, time: Column) -> Written {
        let how = self.row.number(how).or(self.row.number(time).map(|_| CLIENT_TIME));
        self.words.put(&[how.unwrap_or_default() as u32]);
        if how.is_some() {
            self.account(true);
        }
        match how {
            Some(CLIENT_TIME) => self.times(&[time]),
            _ => Ok(()),
        }
    }

    fn time_delta(&mut self) -> Written {
        const SECOND: u64 = 1_000_000_000;
        self.numbers(&[Column::FsTimeDelta], |words, delta| {
            words.put(&[(delta / SECOND) as u32, (delta % SECOND) as u32]);
        })
    }

    fn before(&mut self, subject: Subject) -> Written {
        before(subject).try_for_each(|column| self.value(column))
    }

    fn attributes(&mut self, subject: Subject) -> Written {
        attributes(subject).try_for_each(|column| self.value(column))
    }

    fn entries(&mut self, plus: bool) -> Written {
        let row = self.row;
        for entry in (0..row.entries()).filter_map(|number| row.entry(number)) {
            self.words.put(&[1]);
            self.words.put_long(entry.number(EntryColumn::Fileid).unwrap_or_default());
            self.words.put_opaque(entry.bytes(EntryColumn::Name).unwrap_or_default());
            self.words.put_long(entry.number(EntryColumn::Cookie).unwrap_or_default());
            if plus {
                self.entry_attributes(&entry);
            }
            self.account(true);
        }
        self.words.put(&[0]);
        Ok(())
    }

    /// Writes as many zeros as the column says.
    fn data(&mut self, length: Column) -> Written {
        let length = self.row.number(length).map_or(0, |length| length as usize);
        let length = length.min(self.most_data);
        self.words.put(&[length as u32]);
        self.zeros = length.next_multiple_of(4);
        Ok(())
    }
}

/// A value of a kind.
fn put(words: &mut Words, kind: Kind, value: u64) {
    match kind {
        Kind::U64 => words.put_long(value),
        Kind::Time => put_time(words, value),
        _ => words.put(&[value as u32]),
    }
}

/// `nfstime3` of microseconds.
fn put_time(words: &mut Words, microseconds: u64) {
    let (seconds, rest) = (microseconds / 1_000_000, microseconds % 1_000_000);
    words.put(&[seconds as u32, rest as u32 * 1000]);
}
