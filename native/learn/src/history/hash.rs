//! Hashes of keys: 64 bits, the same on every machine.
//!
//! Bytes are hashed by FNV-1a (Fowler, Noll and Vo; 64 bits), numbers stand for themselves. A key
//! is made of parts one after the other, each taken in by the output function of SplitMix64
//! (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).

/// Of bytes.
#[inline]
pub fn of(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Of what was hashed already and one part more.
#[inline]
pub fn with(hash: u64, part: u64) -> u64 {
    let z = (hash ^ part).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
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
