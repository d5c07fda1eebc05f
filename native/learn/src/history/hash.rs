//! Hashes of keys: 64 bits, the same on every machine.
//!
//! Bytes are hashed by FNV-1a (Fowler, Noll and Vo; 64 bits), numbers stand for themselves. The
//! output function of SplitMix64 combines the parts of a key (Steele, Lea and Flood, "Fast
//! Splittable Pseudorandom Number Generators", OOPSLA 2014).

use fnv::FnvHasher;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use std::hash::Hasher;

/// The hash of bytes.
#[inline]
pub fn of(bytes: &[u8]) -> u64 {
    let mut hasher = FnvHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// The hash of earlier parts and one more.
#[inline]
pub fn with(hash: u64, part: u64) -> u64 {
    SplitMix64::from_seed((hash ^ part).to_le_bytes()).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_the_published_ones() {
        assert_eq!(of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(of(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(with(0, 0), 0xe220_a839_7b1d_cdaf);
    }
}
