//! An append-only index on disk: hashes, each with an offset in another file.
//!
//! It consists of sorted runs in temporary files. A new run is merged with earlier ones that are
//! not at least twice as long. So there are few, each entry is rewritten a few times, and all
//! writing is sequential, unlike in a B-tree of hashes.

use super::scratch;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::os::unix::fs::FileExt;

/// A hash and an offset.
pub type Entry = (u64, u64);

/// An entry's bytes.
const WIDTH: usize = 16;
/// Entries read to find one, indexed by one number in memory.
const BLOCK: usize = 256;
/// The bytes read or written at a time in a sequential pass.
const BUFFER: usize = 1 << 18;

/// The index.
#[derive(Default)]
pub struct Runs {
    /// Each at least twice as long as the next.
    runs: Vec<Run>,
}

impl Runs {
    /// Adds entries.
    pub fn add(&mut self, mut entries: Vec<Entry>) -> io::Result<()> {
        entries.sort_unstable();
        let mut run = Run::write(entries.into_iter().map(Ok))?;
        while let Some(before) = self.runs.pop_if(|before| before.len < 2 * run.len) {
            let merged = merge(before.entries()?, run.entries()?);
            run = Run::write(merged)?;
        }
        self.runs.push(run);
        Ok(())
    }

    /// The offsets for a hash.
    pub fn find(&self, hash: u64) -> io::Result<Vec<u64>> {
        let mut found = Vec::new();
        for run in &self.runs {
            run.find(hash, &mut found)?;
        }
        Ok(found)
    }
}

/// Entries in order.
struct Run {
    file: File,
    len: usize,
    /// The hash of each block's first entry.
    firsts: Vec<u64>,
}

impl Run {
    fn write(entries: impl Iterator<Item = io::Result<Entry>>) -> io::Result<Run> {
        let mut writer = BufWriter::with_capacity(BUFFER, scratch::file()?);
        let mut firsts = Vec::new();
        let mut len = 0;
        for entry in entries {
            let (hash, place) = entry?;
            if len % BLOCK == 0 {
                firsts.push(hash);
            }
            writer.write_all(&hash.to_le_bytes()).map_err(scratch::named)?;
            writer.write_all(&place.to_le_bytes()).map_err(scratch::named)?;
            len += 1;
        }
        let file = writer.into_inner().map_err(|error| scratch::named(error.into_error()))?;
        Ok(Run { file, len, firsts })
    }

    /// All entries, in order.
    fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<Entry>> + use<'_>> {
        let mut reader = BufReader::with_capacity(BUFFER, &self.file);
        reader.rewind()?;
        let mut bytes = [0; WIDTH];
        let next = move |_| reader.read_exact(&mut bytes).map(|()| decode(&bytes));
        Ok((0..self.len).map(next))
    }

    fn find(&self, hash: u64, found: &mut Vec<u64>) -> io::Result<()> {
        let begin = self.firsts.partition_point(|&first| first < hash).saturating_sub(1);
        let end = self.firsts.partition_point(|&first| first <= hash);
        for block in begin..end {
            let mut bytes = [0; BLOCK * WIDTH];
            let from = block * BLOCK;
            let bytes = &mut bytes[..BLOCK.min(self.len - from) * WIDTH];
            self.file.read_exact_at(bytes, (from * WIDTH) as u64)?;
            let entries = bytes.chunks_exact(WIDTH).map(decode);
            found.extend(entries.filter(|entry| entry.0 == hash).map(|entry| entry.1));
        }
        Ok(())
    }
}

fn decode(bytes: &[u8]) -> Entry {
    let number = |at: usize| (0..8).fold(0, |n, i| n | u64::from(bytes[at + i]) << (8 * i));
    (number(0), number(8))
}

fn merge(
    left: impl Iterator<Item = io::Result<Entry>>,
    right: impl Iterator<Item = io::Result<Entry>>,
) -> impl Iterator<Item = io::Result<Entry>> {
    let (mut left, mut right) = (left.peekable(), right.peekable());
    std::iter::from_fn(move || match (left.peek(), right.peek()) {
        (Some(Ok(a)), Some(Ok(b))) if a > b => right.next(),
        (None, _) => right.next(),
        _ => left.next(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_found_however_runs_were_merged() {
        let mut runs = Runs::default();
        let hash = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        for run in 0..40 {
            runs.add((run * 100..run * 100 + 100).map(|i| (hash(i), i)).collect()).unwrap();
            let lengths: Vec<usize> = runs.runs.iter().map(|run| run.len).collect();
            assert!(lengths.is_sorted_by(|a, b| *a >= 2 * b), "{lengths:?}");
        }
        for i in 0..4000 {
            assert_eq!(runs.find(hash(i)).unwrap(), [i]);
        }
        assert!(runs.find(hash(4000)).unwrap().is_empty());
        assert!(runs.find(0).unwrap() == [0] && runs.find(u64::MAX).unwrap().is_empty());
    }

    #[test]
    fn entries_of_one_hash_are_all_found_across_blocks() {
        let mut runs = Runs::default();
        runs.add((0..1000).map(|i| (i / 600 + 5, i)).collect()).unwrap();
        runs.add(vec![(5, 5000), (4, 0)]).unwrap();
        let mut five = runs.find(5).unwrap();
        five.sort_unstable();
        assert!(five.iter().copied().eq((0..600).chain([5000])));
        assert_eq!(runs.find(6).unwrap().len(), 400);
    }
}
