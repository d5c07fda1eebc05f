//! Snapshots: the state needed to continue after a restart, as frames of bytes.
//!
//! A snapshot begins with a line that names its kind and version. A frame is the length of its
//! content and the CRC-32 (IEEE 802.3) of its number among the frames and its content, four bytes
//! each (little-endian), then the content, by postcard. A list is frames of some of its items each,
//! then an empty one.

use flate2::Crc;
use serde::{de::DeserializeOwned, Serialize};
use std::io::{self, Read, Write};

/// The longest frame to read.
const LONGEST: u32 = 1 << 30;
/// The items of a list in a frame.
const CHUNK: usize = 1 << 12;

/// Why a snapshot could not be written or read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SnapshotError {
    #[error(
        "begins with {found:?}, expected {expected:?}: no such snapshot, or of another version"
    )]
    Other { found: String, expected: &'static str },
    #[error("frame {frame} is damaged: {what}")]
    Damaged { frame: u32, what: String },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes a snapshot.
pub struct Writer<W> {
    out: W,
    frame: u32,
}

impl<W: Write> Writer<W> {
    /// Begins a snapshot with a line that names its kind.
    pub fn new(mut out: W, line: &'static str) -> Result<Writer<W>, SnapshotError> {
        out.write_all(line.as_bytes())?;
        Ok(Writer { out, frame: 0 })
    }

    /// Writes a value.
    pub fn put<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), SnapshotError> {
        let content = postcard::to_allocvec(value).map_err(|error| self.damaged(error))?;
        let len = u32::try_from(content.len()).ok().filter(|len| *len <= LONGEST);
        let len = len.ok_or_else(|| self.damaged("it has more bytes than a frame may have"))?;
        self.out.write_all(&len.to_le_bytes())?;
        self.out.write_all(&checksum(self.frame, &content).to_le_bytes())?;
        self.out.write_all(&content)?;
        self.frame += 1;
        Ok(())
    }

    /// Writes a list of values.
    pub fn list<T: Serialize>(
        &mut self,
        items: impl IntoIterator<Item = T>,
    ) -> Result<(), SnapshotError> {
        let mut items = items.into_iter();
        loop {
            let some: Vec<T> = items.by_ref().take(CHUNK).collect();
            self.put(&some)?;
            if some.is_empty() {
                return Ok(());
            }
        }
    }

    fn damaged(&self, what: impl ToString) -> SnapshotError {
        SnapshotError::Damaged { frame: self.frame, what: what.to_string() }
    }
}

/// Reads a snapshot, and nothing beyond it.
pub struct Reader<R> {
    input: R,
    frame: u32,
}

impl<R: Read> Reader<R> {
    /// Begins a snapshot that must have this line.
    pub fn new(mut input: R, line: &'static str) -> Result<Reader<R>, SnapshotError> {
        let mut found = Vec::new();
        input.by_ref().take(line.len() as u64).read_to_end(&mut found)?;
        if found != line.as_bytes() {
            let found = String::from_utf8_lossy(&found).into_owned();
            return Err(SnapshotError::Other { found, expected: line });
        }
        Ok(Reader { input, frame: 0 })
    }

    /// Reads a value.
    pub fn get<T: DeserializeOwned>(&mut self) -> Result<T, SnapshotError> {
        let (len, sum) = (self.number()?, self.number()?);
        if len > LONGEST {
            return Err(self.damaged(format_args!("it would have {len} bytes")));
        }
        let mut content = Vec::new();
        self.input.by_ref().take(len.into()).read_to_end(&mut content)?;
        if content.len() < len as usize {
            return Err(self.damaged("the file ends within it"));
        }
        if checksum(self.frame, &content) != sum {
            return Err(self.damaged("its checksum does not match"));
        }
        let (value, rest) =
            postcard::take_from_bytes(&content).map_err(|error| self.damaged(error))?;
        if !rest.is_empty() {
            return Err(self.damaged("it holds more than it should"));
        }
        self.frame += 1;
        Ok(value)
    }

    /// Reads a list, some at a time.
    pub fn list<T: DeserializeOwned, E: From<SnapshotError>>(
        &mut self,
        mut each: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let some: Vec<T> = self.get()?;
            if some.is_empty() {
                return Ok(());
            }
            some.into_iter().try_for_each(&mut each)?;
        }
    }

    /// Reads a list.
    pub fn all<T: DeserializeOwned>(&mut self) -> Result<Vec<T>, SnapshotError> {
        let mut all = Vec::new();
        self.list(|item| {
            all.push(item);
            Ok::<_, SnapshotError>(())
        })?;
        Ok(all)
    }

    /// Ends: nothing may follow.
    pub fn end(mut self) -> Result<(), SnapshotError> {
        match self.input.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(self.damaged("there is more behind the end")),
        }
    }

    /// The error for contents that are invalid.
    pub fn damaged(&self, what: impl ToString) -> SnapshotError {
        SnapshotError::Damaged { frame: self.frame, what: what.to_string() }
    }

    fn number(&mut self) -> Result<u32, SnapshotError> {
        let mut bytes = Vec::new();
        self.input.by_ref().take(4).read_to_end(&mut bytes)?;
        let bytes = bytes.try_into().map_err(|_| self.damaged("the file ends within it"))?;
        Ok(u32::from_le_bytes(bytes))
    }
}

fn checksum(frame: u32, content: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(&frame.to_le_bytes());
    crc.update(content);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "birthmark test 1\n";

    fn written(items: u32) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, LINE).unwrap();
        writer.put(&(7u8, "seven")).unwrap();
        writer.list(0..items).unwrap();
        out
    }

    fn read(bytes: &[u8]) -> Result<(u8, String, Vec<u32>), SnapshotError> {
        let mut reader = Reader::new(bytes, LINE)?;
        let (number, word) = reader.get()?;
        Ok((number, word, reader.all()?))
    }

    #[test]
    fn a_snapshot_is_read_and_nothing_beyond_it() {
        for items in [0, 1, CHUNK as u32, 3 * CHUNK as u32 + 5] {
            let mut bytes = written(items);
            bytes.push(1);
            let expected = (7, "seven".to_owned(), (0..items).collect());
            assert_eq!(read(&bytes).unwrap(), expected);
        }
    }

    #[test]
    fn any_byte_that_is_another_or_missing_is_damage() {
        let bytes = written(3);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x20;
            assert!(read(&damaged).is_err(), "byte {at}");
            assert!(read(&bytes[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn frames_that_changed_places_are_damage() {
        let mut out = Vec::new();
        let mut writer = Writer::new(&mut out, LINE).unwrap();
        writer.put(&1u8).unwrap();
        writer.put(&2u8).unwrap();
        assert_eq!(Reader::new(&out[..], LINE).unwrap().get::<u8>().unwrap(), 1);
        out[LINE.len()..].rotate_left(9); // each has a head of eight bytes, and one
        assert!(Reader::new(&out[..], LINE).unwrap().get::<u8>().is_err());
    }
}
