//! A hash table of fixed size: keys and values in buckets of eight.
//!
//! A key may be in either of two buckets, so that a bucket is seldom full before the table is
//! (Azar, Broder, Karlin and Upfal, "Balanced Allocations", SIAM Journal on Computing 29, 1999). A
//! bucket's keys come first, in one cache line, then the values.

use super::words::Words;

/// The number of keys in a bucket.
pub const WAYS: usize = 8;
/// The intended mean number of keys in a bucket: with more, full buckets become common.
const LOAD: usize = 6;
/// The key of a free way. A key that happens to be 0, one in 2^64, is never stored.
pub const FREE: u64 = 0;

/// The first word of a table of values of `VALUE` words, and its number of buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table<const VALUE: usize> {
    start: usize,
    buckets: usize,
}

impl<const VALUE: usize> Table<VALUE> {
    const BUCKET: usize = WAYS * (1 + VALUE);

    /// A table of `buckets` buckets, at least one, from a word on; none if it exceeds the address
    /// space.
    pub fn new(start: usize, buckets: usize) -> Option<Table<VALUE>> {
        start.checked_add(buckets.checked_mul(Self::BUCKET)?)?;
        (1..=u32::MAX as usize).contains(&buckets).then_some(Table { start, buckets })
    }

    /// The number of buckets for `keys` keys.
    pub fn buckets_for(keys: usize) -> usize {
        keys.div_ceil(LOAD).max(2)
    }

    /// The number of buckets.
    pub fn buckets(&self) -> usize {
        self.buckets
    }

    /// The greatest number of keys.
    pub fn ways(&self) -> usize {
        self.buckets * WAYS
    }

    /// The first word after it.
    pub fn end(&self) -> usize {
        self.start + self.buckets * Self::BUCKET
    }

    /// The buckets that a key may be in.
    #[inline]
    pub fn homes(&self, key: u64) -> [usize; 2] {
        let home = |hash: u64| ((u128::from(hash) * self.buckets as u128) >> 64) as usize;
        [home(key), home(key.rotate_left(32))]
    }

    /// The word that holds the key of a way, counted through all buckets.
    #[inline]
    pub fn key_at(&self, way: usize) -> usize {
        self.start + way / WAYS * Self::BUCKET + way % WAYS
    }

    /// The first word of the value of a way.
    #[inline]
    pub fn value_at(&self, way: usize) -> usize {
        self.start + way / WAYS * Self::BUCKET + WAYS + way % WAYS * VALUE
    }

    /// The value of a key.
    #[inline]
    pub fn find(&self, words: &impl Words, key: u64) -> Option<[u64; VALUE]> {
        if key == FREE {
            return None;
        }
        let homes = self.homes(key).into_iter();
        let mut ways = homes.flat_map(|home| (0..WAYS).map(move |way| home * WAYS + way));
        let way = ways.find(|&way| words.load(self.key_at(way)) == key)?;
        let value = self.value_at(way);
        Some(std::array::from_fn(|word| words.load(value + word)))
    }
}
