//! A mapping's file: lines of text, in which its owner can look up names in either direction.
//!
//! ```text
//! birthmark mapping 1
//! settings {"prefix": true}
//! seed none
//! user 1000 3735928559
//! host "10.1.2.3" "251.7.40.9"
//! name "prediction" "qx0ab7k2m9c"
//! handle 0a0b ffe2
//! end 4 1c291ca3
//! ```
//!
//! The second line holds the caller's settings. Unprintable bytes of names, quotes and backslashes
//! are written as in nfsdump text, a backslash and two hexadecimal digits. The last line counts the
//! pairs and has the CRC-32 (IEEE 802.3) of all earlier lines.

use super::pairs::Pairs;
use super::quote::{hex, quote, unhex, unquote};
use super::random::Random;
use super::{Error, Mapping, Settings};
use flate2::{Crc, CrcWriter};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;

const MAGIC: &[u8] = b"birthmark mapping 1";

/// The longest line to read: a name of a megabyte, escaped, and its image.
const LONGEST: u64 = 1 << 23;

impl Mapping {
    /// Writes the mapping into an existing empty file, with the caller's settings line.
    pub fn write(&self, path: &Path, settings: &str) -> io::Result<()> {
        let mut out = CrcWriter::new(OpenOptions::new().write(true).open(path)?);
        let mut lines = BufWriter::with_capacity(1 << 20, &mut out);
        lines.write_all(MAGIC)?;
        writeln!(lines, "\nsettings {settings}")?;
        match self.seed {
            Some(seed) => writeln!(lines, "seed {seed}")?,
            None => writeln!(lines, "seed none")?,
        }
        let mut line = Vec::new();
        for (word, pairs) in self.tables() {
            for (key, value) in pairs.iter() {
                line.clear();
                line.extend_from_slice(word.as_bytes());
                for text in [key, value] {
                    line.push(b' ');
                    print(word, text, &mut line);
                }
                line.push(b'\n');
                lines.write_all(&line)?;
            }
        }
        lines.flush()?;
        drop(lines);
        let sum = out.crc().sum();
        writeln!(out, "end {} {sum:08x}", self.count())
    }

    /// Reads a mapping that [`Mapping::write`] wrote. The caller parses the settings line (the
    /// second) itself, and passes the settings.
    pub fn read(path: &Path, settings: Settings) -> Result<Mapping, Error> {
        let mut lines = Lines::new(File::open(path)?);
        lines.expect("the line `birthmark mapping 1`, of a mapping file", |line| {
            (line == MAGIC).then_some(())
        })?;
        let is_settings = |line: &[u8]| line.starts_with(b"settings ").then_some(());
        lines.expect("a line `settings …`", is_settings)?;
        let seed = lines.expect("a line `seed none`, or with a number", |line| {
            let text = std::str::from_utf8(line.strip_prefix(b"seed ")?).ok()?;
            if text == "none" {
                Some(None)
            } else {
                text.parse().ok().map(Some)
            }
        })?;
        let mut mapping = Mapping::new(settings, seed)?;
        while !lines.is_last() {
            lines.expect("a pair, of a user, group, host, name, label or handle", |line| {
                mapping.pair(line)
            })?;
        }
        let end = format!("end {} {:08x}", mapping.count(), lines.sum.sum());
        lines
            .expect(&format!("`{end}`, the count and checksum of what stands before"), |line| {
                (line == end.as_bytes()).then_some(())
            })?;
        if !lines.text.is_empty() {
            return Err(lines.damaged("nothing after the line `end …`"));
        }
        if let Some(seed) = seed {
            mapping.random = Random::seeded(seed, mapping.count());
        }
        Ok(mapping)
    }

    fn count(&self) -> u64 {
        self.tables().iter().map(|(_, pairs)| pairs.len() as u64).sum()
    }

    fn pair(&mut self, line: &[u8]) -> Option<()> {
        let mut words = line.split(|byte| *byte == b' ');
        let (word, key, value) = (words.next()?, words.next()?, words.next()?);
        let (key, value) = (scan(word, key)?, scan(word, value)?);
        let pairs: &mut Pairs = self.table(word)?;
        (words.next().is_none() && pairs.add(&key, &value)).then_some(())
    }
}

fn print(word: &str, text: &[u8], out: &mut Vec<u8>) {
    match (word, text) {
        ("user" | "group", [a, b, c, d]) => {
            out.extend(u32::from_be_bytes([*a, *b, *c, *d]).to_string().into_bytes());
        }
        ("handle", handle) => handle.iter().for_each(|byte| hex(*byte, out)),
        (_, text) => quote(text, true, out),
    }
}

fn scan(word: &[u8], text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match word {
        b"user" | b"group" => {
            let id: u32 = std::str::from_utf8(text).ok()?.parse().ok()?;
            out.extend(id.to_be_bytes());
        }
        b"handle" => unhex(text, &mut out).then_some(())?,
        _ => unquote(text, &mut out).then_some(())?,
    }
    Some(out)
}

/// A file's lines; `text` is the next one, with its newline, and `sum` the checksum of earlier
/// ones.
struct Lines {
    file: BufReader<File>,
    sum: Crc,
    text: Vec<u8>,
    number: u64,
}

impl Lines {
    fn new(file: File) -> Lines {
        let file = BufReader::with_capacity(1 << 20, file);
        Lines { file, sum: Crc::new(), text: Vec::new(), number: 0 }
    }

    /// Takes the next line if `read` accepts it.
    fn expect<T>(
        &mut self,
        expected: &str,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, Error> {
        if self.text.is_empty() {
            self.advance()?;
        }
        let found = self.text.strip_suffix(b"\n").and_then(read);
        let found = found.ok_or_else(|| self.damaged(expected))?;
        self.sum.update(&self.text);
        self.advance()?;
        Ok(found)
    }

    fn is_last(&self) -> bool {
        self.text.is_empty() || self.text.starts_with(b"end ")
    }

    fn advance(&mut self) -> io::Result<()> {
        self.text.clear();
        self.number += 1;
        io::Read::take(&mut self.file, LONGEST).read_until(b'\n', &mut self.text)?;
        Ok(())
    }

    fn damaged(&self, expected: &str) -> Error {
        Error::Damaged { line: self.number, expected: expected.to_owned() }
    }
}
