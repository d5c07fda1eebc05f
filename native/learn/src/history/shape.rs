//! The shape of a name: the name with numbers and random words folded, so that names of one pattern
//! are equal.
//!
//! - A run of four or more hexadecimal digits with a decimal one among them, and any run of decimal
//!   digits, becomes `#`.
//! - A word (a longest run of ASCII letters and digits) of six that changes at least twice between
//!   small letters, capitals and digits, and is not such a number, becomes `@`: the random part of
//!   a name by `mkstemp`.

use arrow_array::builder::BinaryBuilder;
use arrow_array::{Array, BinaryArray};

/// The length of the random part of `mkstemp`.
const RANDOM: usize = 6;
/// The least length of a hexadecimal number; shorter runs are often words: `bed1`, `ace2`.
const HEXADECIMAL: usize = 4;

/// Puts the shape of a name into `out`.
pub fn shape(name: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = name;
    while let Some(&byte) = rest.first() {
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if word == 0 {
            out.push(byte);
            rest = &rest[1..];
        } else {
            fold(&rest[..word], out);
            rest = &rest[word..];
        }
    }
}

/// The shape of each name.
pub fn shapes(names: &BinaryArray) -> BinaryArray {
    let mut folded = Vec::new();
    let mut shapes = BinaryBuilder::with_capacity(names.len(), names.value_data().len());
    for name in names {
        shapes.append_option(name.map(|name| {
            shape(name, &mut folded);
            folded.as_slice()
        }));
    }
    shapes.finish()
}

fn fold(word: &[u8], out: &mut Vec<u8>) {
    if is_random(word) {
        return out.push(b'@');
    }
    let mut rest = word;
    while let Some(&byte) = rest.first() {
        let (digits, decimal) = hexadecimal(rest);
        if decimal && digits >= HEXADECIMAL {
            out.push(b'#');
            rest = &rest[digits..];
        } else if byte.is_ascii_digit() {
            out.push(b'#');
            rest = &rest[rest.iter().take_while(|byte| byte.is_ascii_digit()).count()..];
        } else {
            let plain = if decimal { 1 } else { digits.max(1) };
            out.extend_from_slice(&rest[..plain]);
            rest = &rest[plain..];
        }
    }
}

/// Whether a word is a random part.
pub fn is_random(word: &[u8]) -> bool {
    if word.len() != RANDOM || hexadecimal(word) == (RANDOM, true) {
        return false;
    }
    let class = |byte: u8| (byte.is_ascii_digit(), byte.is_ascii_uppercase());
    word.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count() >= 2
}

/// The number of hexadecimal digits at the beginning of `rest`, and whether one of them is decimal.
fn hexadecimal(rest: &[u8]) -> (usize, bool) {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    (digits, rest[..digits].iter().any(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped(name: &str) -> String {
        let mut out = Vec::new();
        shape(name.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_folded() {
        let names = ["cache1A2B.gif", "cache93FF.gif", "a1b", "facade", "00ff-7", "x.deadbeef0"];
        let shapes = ["cach#.gif", "cach#.gif", "a#b", "facade", "#-#", "x.#"];
        assert_eq!(names.map(shaped), shapes);
    }

    #[test]
    fn random_words_of_six_are_folded() {
        let names =
            ["mutt.aX3bq9", "tmpaX3bq9", "x-aXbQcR~", "README", "Budget", "file12", "1a2b3c"];
        let shapes = ["mutt.@", "tmpaX3bq9", "x-@~", "README", "Budget", "file#", "#"];
        let expected = shapes.map(|shape| shape.replace("X3bq9", "X#bq#"));
        assert_eq!(names.map(shaped), expected);
    }

    #[test]
    fn a_long_name_takes_no_longer_by_the_byte() {
        let name = "a".repeat(1 << 20);
        assert_eq!(shaped(&name), name);
    }
}
