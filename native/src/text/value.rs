//! The values of a line: hexadecimal numbers, decimal times, quoted names.

/// The digit that a byte stands for, or 16 and more.
const DIGITS: [u8; 256] = {
    let mut digits = [0xff; 256];
    let mut value = 0;
    while value < 10 {
        digits[b'0' as usize + value] = value as u8;
        value += 1;
    }
    while value < 16 {
        digits[b'a' as usize + value - 10] = value as u8;
        digits[b'A' as usize + value - 10] = value as u8;
        value += 1;
    }
    digits
};

/// A hexadecimal number of up to 64 bits.
#[inline]
pub fn hex(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    let mut value = 0u64;
    let mut bad = 0u8;
    for byte in text {
        let digit = DIGITS[*byte as usize];
        bad |= digit;
        value = value << 4 | u64::from(digit & 15);
    }
    (bad < 16).then_some(value)
}

/// The bytes that hexadecimal digits stand for, written to `out`; false if they are none.
#[inline]
pub fn unhex(text: &[u8], out: &mut Vec<u8>) -> bool {
    let mut bad = 0u8;
    out.extend(text.chunks_exact(2).map(|pair| {
        let (high, low) = (DIGITS[pair[0] as usize], DIGITS[pair[1] as usize]);
        bad |= high | low;
        high << 4 | (low & 15)
    }));
    bad < 16 && text.len().is_multiple_of(2)
}

fn decimal(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 12 {
        return None;
    }
    let mut value = 0i64;
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(value)
}

/// A time, `seconds.microseconds`, in microseconds. The fraction is a count of microseconds,
/// not always padded: v2 attributes print `.9004` for 9004 of them. A fraction of a second or
/// more is not a time.
#[inline]
pub fn time(text: &[u8]) -> Option<i64> {
    let point = memchr::memchr(b'.', text)?;
    let (seconds, fraction) = (decimal(&text[..point])?, decimal(&text[point + 1..])?);
    (fraction < 1_000_000).then_some(seconds * 1_000_000 + fraction)
}

/// A name in double quotes, its `\xx` escapes undone, written to `out`; false if it is none.
pub fn quoted(text: &[u8], out: &mut Vec<u8>) -> bool {
    let Some(inner) = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")) else {
        return false;
    };
    let mut rest = inner;
    while let Some(escape) = memchr::memchr2(b'\\', b'"', rest) {
        out.extend_from_slice(&rest[..escape]);
        let code = rest.get(escape + 1..escape + 3);
        match (rest[escape], code.and_then(hex)) {
            (b'\\', Some(byte)) => out.push(byte as u8),
            _ => return false,
        }
        rest = &rest[escape + 3..];
    }
    out.extend_from_slice(rest);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_microseconds_with_or_without_padding() {
        assert_eq!(time(b"997133456.000999"), Some(997_133_456_000_999));
        assert_eq!(time(b"1043906504.9004"), Some(1_043_906_504_009_004));
        assert_eq!(time(b"911397415.0"), Some(911_397_415_000_000));
        // from mis-decoded packets: ten digits and a seven-digit fraction
        assert_eq!(time(b"2255194683.3448702"), None);
        assert_eq!(time(b"12"), None);
    }

    #[test]
    fn names_lose_their_escapes() {
        let mut out = Vec::new();
        assert!(quoted(b"\"Sent\\20Items\"", &mut out));
        assert_eq!(out, b"Sent Items");
        assert!(!quoted(b"\"Sent\\2\"", &mut out));
        assert!(!quoted(b"\"a\"b\"", &mut out));
        assert!(!quoted(b"\"", &mut out));
    }

    #[test]
    fn numbers_are_hexadecimal() {
        assert_eq!(hex(b"ffffffff8465bccf"), Some(0xffff_ffff_8465_bccf));
        assert_eq!(hex(b"XXX"), None);
        assert_eq!(hex(b""), None);
        let mut out = Vec::new();
        assert!(unhex(b"cfbc65", &mut out));
        assert_eq!(out, [0xcf, 0xbc, 0x65]);
        assert!(!unhex(b"cfb", &mut out));
    }
}
