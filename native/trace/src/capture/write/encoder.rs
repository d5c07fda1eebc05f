//! One message while it is made of a row's values.

use super::words::Words;
use crate::rows::Row;
use crate::schema::Column;

/// Writes a row's values. One that the row does not have becomes zero or empty.
pub struct Encoder<'a> {
    /// The operation.
    pub row: Row<'a>,
    /// What was written so far.
    pub words: Words,
    /// Zero bytes that follow: the data of a file.
    pub zeros: usize,
    /// Where the last value that the row has ends.
    known: usize,
    /// Whether a value that the message must have is not in the row.
    lacking: bool,
}

impl<'a> Encoder<'a> {
    /// A message that begins with these words.
    pub fn new(row: Row<'a>, words: Words) -> Encoder<'a> {
        let known = words.0.len();
        Encoder { row, words, zeros: 0, known, lacking: false }
    }

    /// Words of the 32-bit values of columns.
    pub fn words(&mut self, columns: &[Column]) {
        for &column in columns {
            let value = self.row.number(column);
            self.words.put(&[value.unwrap_or_default() as u32]);
            self.account(value.is_some());
        }
    }

    /// The 64-bit values of columns.
    pub fn longs(&mut self, columns: &[Column]) {
        for &column in columns {
            let value = self.row.number(column);
            self.words.put_long(value.unwrap_or_default());
            self.account(value.is_some());
        }
    }

    /// `nfstime3`.
    pub fn times(&mut self, columns: &[Column]) {
        for &column in columns {
            let value = self.row.number(column);
            self.words.put(&time3(value.unwrap_or_default()));
            self.account(value.is_some());
        }
    }

    /// Bytes behind their number.
    pub fn opaque(&mut self, column: Column) {
        let value = self.row.bytes(column);
        self.words.put_opaque(value.unwrap_or_default());
        self.account(value.is_some());
    }

    /// Eight bytes: a verifier.
    pub fn verifier(&mut self, column: Column) {
        let value = self.row.bytes(column);
        let mut eight = [0; 8];
        for (to, from) in eight.iter_mut().zip(value.unwrap_or_default()) {
            *to = *from;
        }
        self.words.0.extend_from_slice(&eight);
        self.account(value.is_some());
    }

    /// Whether something optional follows: it does if the row has any of these values.
    pub fn follows(&mut self, columns: impl IntoIterator<Item = Column>) -> bool {
        let row = self.row;
        let follows = columns.into_iter().any(|c| row.number(c).or(length(row.bytes(c))).is_some());
        self.words.put(&[follows.into()]);
        follows
    }

    /// Takes note that what was written last is known.
    pub fn account(&mut self, known: bool) {
        self.lacking |= !known;
        if known {
            self.known = self.words.0.len();
        }
    }

    /// Whether a value that the message must have is not in the row.
    pub fn lacking(&self) -> bool {
        self.lacking
    }

    /// How much of the message the row knows.
    pub fn known(&self) -> usize {
        self.known
    }
}

fn length(bytes: Option<&[u8]>) -> Option<u64> {
    bytes.map(|bytes| bytes.len() as u64)
}

/// `nfstime3` of microseconds.
pub fn time3(microseconds: u64) -> [u32; 2] {
    [(microseconds / 1_000_000) as u32, (microseconds % 1_000_000) as u32 * 1000]
}
