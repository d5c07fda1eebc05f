//! The values of a line: hexadecimal numbers, decimal times, quoted names.
//!
//! Each is accepted in any form, with a flag whether it is plain: whether [`super::write`] would
//! print it so.

use super::words::escaped;

/// Set in a digit that is an upper-case letter, and in what is no digit.
const UPPER: u8 = 0x20;
/// Set in what is no digit.
const NONE: u8 = 0x10;

/// The digit that a byte stands for.
const DIGITS: [u8; 256] = {
    let mut digits = [NONE | UPPER; 256];
    let mut value = 0;
    while value < 10 {
        digits[b'0' as usize + value] = value as u8;
        value += 1;
    }
    while value < 16 {
        digits[b'a' as usize + value - 10] = value as u8;
        digits[b'A' as usize + value - 10] = value as u8 | UPPER;
        value += 1;
    }
    digits
};

/// A hexadecimal number of up to 64 bits.
#[inline]
pub fn hex(text: &[u8]) -> Option<u64> {
    number(text).map(|(value, _)| value)
}

/// A hexadecimal number of up to 64 bits; plain in lower case without leading zeros.
#[inline]
pub fn number(text: &[u8]) -> Option<(u64, bool)> {
    let (value, lower) = digits(text)?;
    Some((value, lower && (text[0] != b'0' || text.len() == 1)))
}

/// Hexadecimal digits of up to 64 bits, and whether they are in lower case.
#[inline]
pub fn digits(text: &[u8]) -> Option<(u64, bool)> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    let mut value = 0u64;
    let mut all = 0u8;
    for byte in text {
        let digit = DIGITS[*byte as usize];
        all |= digit;
        value = value << 4 | u64::from(digit & 15);
    }
    (all & NONE == 0).then_some((value, all & UPPER == 0))
}

/// The bytes that hexadecimal digits stand for, written to `out`; plain in lower case.
#[inline]
pub fn unhex(text: &[u8], out: &mut Vec<u8>) -> Option<bool> {
    let (eights, rest) = text.as_chunks::<8>();
    for (at, digits) in eights.iter().enumerate() {
        match four_bytes(*digits) {
            Some(bytes) => out.extend_from_slice(&bytes),
            None => return unhex_any(&text[8 * at..], out), // in upper case, or no digits
        }
    }
    unhex_any(rest, out)
}

fn unhex_any(text: &[u8], out: &mut Vec<u8>) -> Option<bool> {
    let mut all = 0u8;
    out.extend(text.chunks_exact(2).map(|pair| {
        let (high, low) = (DIGITS[pair[0] as usize], DIGITS[pair[1] as usize]);
        all |= high | low;
        high << 4 | (low & 15)
    }));
    (all & NONE == 0 && text.len().is_multiple_of(2)).then_some(all & UPPER == 0)
}

/// A one in each byte.
const ONES: u64 = u64::MAX / 255;
/// The top bit of each byte.
const TOPS: u64 = ONES << 7;

/// The top bit of each byte of `text`, none over 127, that is at least `least`.
#[inline]
fn at_least(text: u64, least: u8) -> u64 {
    ((text | TOPS) - ONES * u64::from(least)) & TOPS
}

/// The bytes that eight digits stand for, all in lower case: eight at a time, since handles are long.
#[inline]
fn four_bytes(digits: [u8; 8]) -> Option<[u8; 4]> {
    let text = u64::from_le_bytes(digits);
    let decimal = at_least(text, b'0') & !at_least(text, b'9' + 1);
    let letter = at_least(text, b'a') & !at_least(text, b'f' + 1);
    if text & TOPS != 0 || decimal | letter != TOPS {
        return None;
    }
    let values = (text & (ONES * 15)) + (letter >> 7) * 9;
    // pairs of digits, then pairs of bytes, then of these
    let pairs = (values << 4 | values >> 8) & (u64::MAX / 0xffff * 0xff);
    let fours = (pairs | pairs >> 8) & (u64::MAX / 0xffff_ffff * 0xffff);
    let [a, b, c, d, ..] = (fours | fours >> 16).to_le_bytes();
    Some([a, b, c, d])
}

/// The number that eight decimal digits stand for.
#[inline]
fn eight_decimals(digits: [u8; 8]) -> Option<i64> {
    let text = u64::from_le_bytes(digits);
    if text & TOPS != 0 || at_least(text, b'0') & !at_least(text, b'9' + 1) != TOPS {
        return None;
    }
    let ones = text & (ONES * 15);
    let pairs = (ones * 10 + (ones >> 8)) & (u64::MAX / 0xffff * 0xff);
    let fours = (pairs * 100 + (pairs >> 16)) & (u64::MAX / 0xffff_ffff * 0xffff);
    Some(((fours * 10_000 + (fours >> 32)) & 0xffff_ffff) as i64)
}

#[inline]
fn decimal(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 12 {
        return None;
    }
    let (mut value, rest) = match text.split_first_chunk() {
        Some((eight, rest)) => (eight_decimals(*eight)?, rest),
        None => (0, text),
    };
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(value)
}

/// How the fraction of a time is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fraction {
    /// With six digits, the only form.
    Either,
    /// With six digits, the first zero.
    Padded,
    /// With as many digits as it takes.
    Unpadded,
    /// Otherwise, or if the seconds are not plain.
    Other,
}

/// A time, `seconds.microseconds`, in microseconds. The fraction is a count of microseconds,
/// not always padded: v2 attributes print `.9004` for 9004 of them. A fraction of a second or
/// more is not a time.
#[inline]
pub fn time(text: &[u8]) -> Option<(i64, Fraction)> {
    let point = match text.get(10) {
        Some(b'.') => 10, // seconds since 2001
        _ => text.iter().position(|byte| *byte == b'.')?,
    };
    let (whole, part) = (&text[..point], &text[point + 1..]);
    let (seconds, fraction) = (decimal(whole)?, decimal(part)?);
    let printed = match (part.len(), part[0]) {
        _ if whole[0] == b'0' && whole.len() > 1 => Fraction::Other,
        (6, b'0') => Fraction::Padded,
        (6, _) => Fraction::Either,
        (1, _) | (2..=5, b'1'..=b'9') => Fraction::Unpadded,
        _ => Fraction::Other,
    };
    (fraction < 1_000_000).then_some((seconds * 1_000_000 + fraction, printed))
}

/// A name in double quotes, its `\xx` escapes undone, written to `out`; plain if exactly the
/// necessary bytes are escaped.
pub fn quoted(text: &[u8], out: &mut Vec<u8>) -> Option<bool> {
    let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""))?;
    let mut rest = inner;
    let mut plain = true;
    while let Some(escape) = rest.iter().position(|byte| escaped(*byte)) {
        out.extend_from_slice(&rest[..escape]);
        match rest[escape] {
            b'\\' => {
                let (byte, lower) = rest.get(escape + 1..escape + 3).and_then(digits)?;
                plain &= lower && escaped(byte as u8);
                out.push(byte as u8);
                rest = &rest[escape + 3..];
            }
            b'"' => return None,
            byte => {
                plain = false;
                out.push(byte);
                rest = &rest[escape + 1..];
            }
        }
    }
    out.extend_from_slice(rest);
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_microseconds_with_or_without_padding() {
        use Fraction::{Either, Other, Padded, Unpadded};
        assert_eq!(time(b"997133456.000999"), Some((997_133_456_000_999, Padded)));
        assert_eq!(time(b"997133456.100999"), Some((997_133_456_100_999, Either)));
        assert_eq!(time(b"1043906504.9004"), Some((1_043_906_504_009_004, Unpadded)));
        assert_eq!(time(b"911397415.0"), Some((911_397_415_000_000, Unpadded)));
        assert_eq!(time(b"911397415.05"), Some((911_397_415_000_005, Other)));
        assert_eq!(time(b"0911397415.5"), Some((911_397_415_000_005, Other)));
        // from mis-decoded packets: ten digits and a seven-digit fraction
        assert_eq!(time(b"2255194683.3448702"), None);
        assert_eq!(time(b"12"), None);
        for other in b"/:\x80\xb0a." {
            for place in 0..10 {
                let mut text = *b"9876543210.000001";
                text[place] = *other;
                assert_eq!(time(&text), None);
            }
        }
        assert_eq!(time(b"9876543210.1"), Some((9_876_543_210_000_001, Unpadded)));
    }

    #[test]
    fn names_lose_their_escapes() {
        let mut out = Vec::new();
        assert_eq!(quoted(b"\"Sent\\20Items\"", &mut out), Some(true));
        assert_eq!(out, b"Sent Items");
        assert_eq!(quoted(b"\"Sent\\2\"", &mut out), None);
        assert_eq!(quoted(b"\"a\"b\"", &mut out), None);
        assert_eq!(quoted(b"\"", &mut out), None);
        for otherwise in [&b"\"\\41\""[..], b"\"\\5C\"", b"\"a\tb\""] {
            assert_eq!(quoted(otherwise, &mut out), Some(false));
        }
    }

    #[test]
    fn numbers_are_hexadecimal() {
        assert_eq!(number(b"ffffffff8465bccf"), Some((0xffff_ffff_8465_bccf, true)));
        assert_eq!(number(b"0"), Some((0, true)));
        assert_eq!(number(b"0a"), Some((10, false)));
        assert_eq!(number(b"A"), Some((10, false)));
        assert_eq!(hex(b"XXX"), None);
        assert_eq!(hex(b""), None);
        let mut out = Vec::new();
        assert_eq!(unhex(b"0123456789abcdef", &mut out), Some(true));
        assert_eq!(out, [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef]);
        for other in b"/:`gAF@G\x80\xb0\xff" {
            for place in 0..20 {
                let mut text = *b"0123456789abcdef0123";
                text[place] = *other;
                let plain = other.is_ascii_hexdigit().then_some(false);
                assert_eq!(unhex(&text, &mut out), plain);
            }
        }
        out.clear();
        assert_eq!(unhex(b"cfbc65", &mut out), Some(true));
        assert_eq!(out, [0xcf, 0xbc, 0x65]);
        assert_eq!(unhex(b"CF", &mut out), Some(false));
        assert_eq!(unhex(b"cfb", &mut out), None);
    }
}
