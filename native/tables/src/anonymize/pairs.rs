//! A one-to-one table from byte strings to byte strings, stored compactly: one block of bytes, and
//! two indexes over it, since no two keys may share a value.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// The table. It only grows.
#[derive(Default)]
pub struct Pairs {
    /// Each pair: the lengths of key and value, in four bytes each, key, value.
    bytes: Vec<u8>,
    by_key: HashTable<usize>,
    by_value: HashTable<usize>,
    hasher: DefaultHashBuilder,
}

/// The bytes of a pair before its key.
const HEAD: usize = 8;

impl Pairs {
    /// The value of a key.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let hash = self.hasher.hash_one(key);
        let found = self.by_key.find(hash, |at| pair(&self.bytes, *at).0 == key)?;
        Some(pair(&self.bytes, *found).1)
    }

    /// Whether some key has that value.
    pub fn has_value(&self, value: &[u8]) -> bool {
        let hash = self.hasher.hash_one(value);
        self.by_value.find(hash, |at| pair(&self.bytes, *at).1 == value).is_some()
    }

    /// Adds a pair; returns false, without effect, if the key or the value exists.
    pub fn add(&mut self, key: &[u8], value: &[u8]) -> bool {
        let lengths = (u32::try_from(key.len()), u32::try_from(value.len()));
        let (Ok(key_len), Ok(value_len)) = lengths else {
            return false;
        };
        if self.get(key).is_some() || self.has_value(value) {
            return false;
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&key_len.to_le_bytes());
        self.bytes.extend_from_slice(&value_len.to_le_bytes());
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        let (bytes, hasher) = (&self.bytes, &self.hasher);
        let of_key = |at: &usize| hasher.hash_one(pair(bytes, *at).0);
        let of_value = |at: &usize| hasher.hash_one(pair(bytes, *at).1);
        self.by_key.insert_unique(hasher.hash_one(key), at, of_key);
        self.by_value.insert_unique(hasher.hash_one(value), at, of_value);
        true
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.by_key.len()
    }

    /// The pairs, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut at = 0;
        std::iter::from_fn(move || {
            (at < self.bytes.len()).then(|| {
                let (key, value) = pair(&self.bytes, at);
                at += HEAD + key.len() + value.len();
                (key, value)
            })
        })
    }
}

#[inline]
fn pair(bytes: &[u8], at: usize) -> (&[u8], &[u8]) {
    let length = |at: usize| {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        u32::from_le_bytes(four) as usize
    };
    let (start, middle) = (at + HEAD, at + HEAD + length(at));
    (&bytes[start..middle], &bytes[middle..middle + length(at + 4)])
}
