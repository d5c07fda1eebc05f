//! Texts of several kinds, and a number for each.

use super::bytes::{Block, Bytes};
use super::steps::step;
use arrow_buffer::{Buffer, ScalarBuffer};
use birthmark_contract::image::{BUCKET_MAX, HASH_BASIS, HASH_MIX, HASH_PRIME};
use std::ops::Range;

/// An incremental hash of texts: FNV-1a.
#[derive(Clone, Copy)]
pub struct Hash(u32);

impl Hash {
    /// The hash of the text with `byte` after it.
    pub fn step(self, byte: u8) -> Self {
        Hash((self.0 ^ u32::from(byte)).wrapping_mul(HASH_PRIME))
    }

    fn of(self, text: &[u8]) -> Self {
        text.iter().fold(self, |hash, byte| hash.step(*byte))
    }

    fn finish(self, kind: usize) -> u32 {
        let hash = (self.0 ^ (kind as u32 + 1)).wrapping_mul(HASH_MIX);
        hash ^ hash >> 16
    }
}

/// Entries in buckets by hash; those of bucket `b` are `buckets[b]..buckets[b + 1]`.
#[derive(Debug)]
pub struct Dictionary {
    seed: u32,
    kinds: u32,
    buckets: ScalarBuffer<u32>,
    entries: Buffer,
    text: Buffer,
}

/// Bytes of an entry.
const ENTRY: usize = 16;

/// An entry in its format.
#[derive(Clone, Copy)]
struct Entry<'a>(&'a [u8; ENTRY]);

impl Dictionary {
    /// Reads the dictionary that `head` (32 bytes) describes, with values below `values`.
    pub fn read(block: &Block, head: Bytes, values: u32) -> Option<Self> {
        let (count, kinds) = (head.u32(4), head.u32(28));
        if !count.is_power_of_two() || count > 1 << 30 {
            return None;
        }
        let text = block.array(head.u32(20), head.u32(24), 1, 1)?.keep();
        let entries = block.array(head.u32(16), head.u32(12), ENTRY as u32, 4)?.keep();
        let (rows, _) = entries.as_chunks::<ENTRY>();
        if !rows.iter().all(|row| Entry(row).fits(kinds, values, text.len())) {
            return None;
        }
        let buckets = block.array(head.u32(8), count + 1, 4, 4)?.u32s();
        let whole = buckets[0] == 0 && buckets[count as usize] as usize == rows.len();
        let sizes_fit = buckets.windows(2).all(|b| b[0] <= b[1] && b[1] - b[0] <= BUCKET_MAX);
        (sizes_fit && whole).then_some(Dictionary {
            seed: head.u32(0),
            kinds,
            buckets,
            entries,
            text,
        })
    }

    /// Greatest number of steps of a lookup: the bucket, and its entries.
    pub fn steps(&self) -> u64 {
        let sizes = self.buckets.windows(2).map(|b| u64::from(b[1] - b[0]));
        1 + sizes.max().unwrap_or(0)
    }

    /// The hash of an empty text.
    pub fn start(&self) -> Hash {
        Hash(HASH_BASIS ^ self.seed)
    }

    /// The value of a text of `kind`.
    pub fn find(&self, kind: usize, text: &[u8]) -> Option<u32> {
        self.find_hashed(kind, self.start().of(text), text)
    }

    /// The same, given the text's hash.
    pub fn find_hashed(&self, kind: usize, hash: Hash, text: &[u8]) -> Option<u32> {
        if self.kinds >> kind & 1 == 0 {
            return None;
        }
        let hash = hash.finish(kind);
        let bucket = hash as usize & (self.buckets.len() - 2);
        let (begin, end) = (self.buckets[bucket], self.buckets[bucket + 1]);
        let (entries, _) = self.entries.as_chunks::<ENTRY>();
        step(1);
        let same = |entry: &Entry| {
            step(1);
            entry.u32(0) == hash
                && entry.kind() == kind
                && self.text.get(entry.place()) == Some(text)
        };
        let mut among = entries[begin as usize..end as usize].iter().map(Entry);
        among.find(same).map(|entry| entry.value())
    }
}

impl Entry<'_> {
    fn u32(self, at: usize) -> u32 {
        u32::from_le_bytes(std::array::from_fn(|i| self.0[at + i]))
    }

    /// Its range in the text.
    fn place(self) -> Range<usize> {
        let begin = self.u32(4) as usize;
        begin..begin + usize::from(u16::from_le_bytes([self.0[8], self.0[9]]))
    }

    fn kind(self) -> usize {
        usize::from(self.0[10])
    }

    fn value(self) -> u32 {
        self.u32(12)
    }

    fn fits(self, kinds: u32, values: u32, text: usize) -> bool {
        let known = self.kind() < 32 && kinds >> self.kind() & 1 == 1;
        known && self.place().end <= text && self.value() < values && self.0[11] == 0
    }
}
