//! File names as small numbers, for forests: counts and lengths that saturate at 255, and hashes of
//! a name with its numbers folded.
//!
//! All of it is integer arithmetic over the bytes of one name, so that C repeats it exactly.

use crate::history::shape::{is_random, shape};
use arrow_array::{Array, BinaryArray};
use birthmark_contract::image::{HASH_BASIS, HASH_PRIME, NAME_NUMBERS};

/// The 32-bit FNV-1a hash of `bytes`.
pub fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(HASH_BASIS, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(HASH_PRIME))
}

/// The numbers of a name, in the order of `features.encoding.NUMBERS`.
pub fn numbers(name: &[u8]) -> [u8; NAME_NUMBERS] {
    let count = |wanted: fn(&u8) -> bool| saturated(name.iter().filter(|b| wanted(b)).count());
    let end = memchr::memrchr(b'.', name).map_or(0, |dot| name.len() - dot);
    [
        saturated(name.len()),
        count(|byte| *byte == b'.'),
        count(u8::is_ascii_digit),
        count(u8::is_ascii_uppercase),
        count(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.'),
        longest(name, u8::is_ascii_digit),
        longest(name, u8::is_ascii_hexdigit),
        saturated(end),
        name.first().copied().unwrap_or(0),
        name.last().copied().unwrap_or(0),
        u8::from(has_random_word(name)),
    ]
}

/// The hashes of a name's shape, and of its shape from the last period on (0 without one).
/// `folded` is scratch memory.
pub fn hashes(name: &[u8], folded: &mut Vec<u8>) -> (u32, u32) {
    shape(name, folded);
    let suffix = memchr::memrchr(b'.', folded).map_or(0, |dot| fnv1a(&folded[dot..]));
    (fnv1a(folded), suffix)
}

/// The numbers of every name, one name after the other, and its two hashes. A null is an empty name.
pub fn encode(names: &BinaryArray) -> (Vec<u8>, Vec<u32>, Vec<u32>) {
    let mut bytes = Vec::with_capacity(names.len() * NAME_NUMBERS);
    let (mut shapes, mut suffixes) = (Vec::new(), Vec::new());
    let mut folded = Vec::new();
    for name in names.iter().map(Option::unwrap_or_default) {
        bytes.extend_from_slice(&numbers(name));
        let (shape, suffix) = hashes(name, &mut folded);
        shapes.push(shape);
        suffixes.push(suffix);
    }
    (bytes, shapes, suffixes)
}

fn saturated(count: usize) -> u8 {
    u8::try_from(count).unwrap_or(u8::MAX)
}

fn longest(name: &[u8], wanted: fn(&u8) -> bool) -> u8 {
    saturated(name.split(|byte| !wanted(byte)).map(<[u8]>::len).max().unwrap_or(0))
}

fn has_random_word(name: &[u8]) -> bool {
    name.split(|byte| !byte.is_ascii_alphanumeric()).any(is_random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // Test vectors of the FNV reference code, http://www.isthe.com/chongo/src/fnv/test_fnv.c
        assert_eq!(fnv1a(b""), 0x811c_9dc5);
        assert_eq!(fnv1a(b"a"), 0xe40c_292c);
        assert_eq!(fnv1a(b"foobar"), 0xbf9c_f968);
    }

    #[test]
    fn a_name_has_its_lengths_counts_and_ends() {
        let expected = [13, 2, 4, 2, 1, 2, 5, 4, b'.', b'g', 0];
        assert_eq!(numbers(b".A1-B2c34.png"), expected);
        assert_eq!(numbers(b""), [0; NAME_NUMBERS]);
        assert_eq!(numbers(&[b'7'; 300])[..3], [255, 0, 255]);
    }

    #[test]
    fn random_words_differ_from_words() {
        let names = [("tmp.aB3xYz", 1), ("tmp.abcdef", 0), ("tmp.Budget", 0), ("aB3xYzq", 0)];
        for (name, expected) in names {
            assert_eq!(numbers(name.as_bytes())[10], expected, "{name}");
        }
    }

    #[test]
    fn names_that_differ_in_their_numbers_have_one_hash() {
        let of = |name: &str| hashes(name.as_bytes(), &mut Vec::new());
        assert_eq!(of("cache1A2B.gif"), of("cache93FF.gif"));
        assert_ne!(of("cache1A2B.gif").0, of("other1A2B.gif").0);
        assert_eq!(of("cache1A2B.gif").1, of("other.gif").1);
        assert_eq!(of("noperiod").1, 0);
    }
}
