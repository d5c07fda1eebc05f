//! Texts of several kinds, and a number for each.

use super::bytes::{Block, Bytes};

const BASIS: u32 = 0x811c_9dc5;
const PRIME: u32 = 0x0100_0193;
const BUCKET: u32 = 16;

/// A hash of texts that is made byte by byte: FNV-1a.
#[derive(Clone, Copy)]
pub struct Hash(u32);

impl Hash {
    /// The hash of the text with `byte` after it.
    pub fn step(self, byte: u8) -> Self {
        Hash((self.0 ^ u32::from(byte)).wrapping_mul(PRIME))
    }

    fn of(self, text: &[u8]) -> Self {
        text.iter().fold(self, |hash, byte| hash.step(*byte))
    }

    fn finish(self, kind: usize) -> u32 {
        let hash = (self.0 ^ (kind as u32 + 1)).wrapping_mul(0x9e37_79b1);
        hash ^ hash >> 16
    }
}

/// Entries in buckets by hash; those of bucket `b` are `buckets[b]..buckets[b + 1]`.
#[derive(Debug)]
pub struct Dictionary {
    seed: u32,
    kinds: u32,
    buckets: Vec<u32>,
    entries: Vec<Entry>,
    text: Vec<u8>,
}

#[derive(Debug)]
struct Entry {
    hash: u32,
    kind: usize,
    begin: usize,
    len: usize,
    value: u32,
}

impl Dictionary {
    /// Reads the dictionary that `head` (32 bytes) describes, with values below `values`.
    pub fn read(block: &Block, head: Bytes, values: u32) -> Option<Self> {
        let (count, kinds) = (head.u32(4), head.u32(28));
        if !count.is_power_of_two() || count > 1 << 30 {
            return None;
        }
        let text = block.array(head.u32(20), head.u32(24), 1, 1)?.all().to_vec();
        let entries = block.array(head.u32(16), head.u32(12), 16, 4)?.rows(16);
        let entries: Vec<Entry> = entries
            .map(|row| Entry::read(row, kinds, values, text.len()))
            .collect::<Option<_>>()?;
        let buckets = block.array(head.u32(8), count + 1, 4, 4)?.u32s();
        let sizes_fit = buckets.windows(2).all(|b| b[0] <= b[1] && b[1] - b[0] <= BUCKET);
        let whole = buckets[0] == 0 && buckets[count as usize] as usize == entries.len();
        (sizes_fit && whole).then_some(Dictionary {
            seed: head.u32(0),
            kinds,
            buckets,
            entries,
            text,
        })
    }

    /// The hash of no text.
    pub fn start(&self) -> Hash {
        Hash(BASIS ^ self.seed)
    }

    /// The value of a text of `kind`.
    pub fn find(&self, kind: usize, text: &[u8]) -> Option<u32> {
        self.find_hashed(kind, self.start().of(text), text)
    }

    /// The same, where the text's hash is known.
    pub fn find_hashed(&self, kind: usize, hash: Hash, text: &[u8]) -> Option<u32> {
        if self.kinds >> kind & 1 == 0 {
            return None;
        }
        let hash = hash.finish(kind);
        let bucket = hash as usize & (self.buckets.len() - 2);
        let (begin, end) = (self.buckets[bucket], self.buckets[bucket + 1]);
        let entries = &self.entries[begin as usize..end as usize];
        let same = |entry: &&Entry| {
            entry.hash == hash
                && entry.kind == kind
                && &self.text[entry.begin..entry.begin + entry.len] == text
        };
        entries.iter().find(same).map(|entry| entry.value)
    }
}

impl Entry {
    fn read(row: Bytes, kinds: u32, values: u32, text: usize) -> Option<Self> {
        let entry = Entry {
            hash: row.u32(0),
            begin: row.u32(4) as usize,
            len: row.u16(8) as usize,
            kind: usize::from(row.u8(10)),
            value: row.u32(12),
        };
        let known = entry.kind < 32 && kinds >> entry.kind & 1 == 1;
        let fits = entry.begin <= text && entry.len <= text - entry.begin;
        (known && fits && entry.value < values && row.u8(11) == 0).then_some(entry)
    }
}
