//! Prints values in nfsdump's form, the input of [`super::super::value`].

use super::super::words::escaped;
use std::net::IpAddr;

const PAIRS: [[u8; 2]; 256] = {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut pairs = [[0; 2]; 256];
    let mut byte = 0;
    while byte < 256 {
        pairs[byte] = [DIGITS[byte >> 4], DIGITS[byte & 15]];
        byte += 1;
    }
    pairs
};

/// A number in hexadecimal, of at least `least` digits.
#[inline]
pub fn hex_padded(out: &mut Vec<u8>, value: u64, least: usize) {
    let mut digits = [0; 16];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(value.to_be_bytes()) {
        pair.copy_from_slice(&PAIRS[usize::from(byte)]);
    }
    let needed = (16 - value.leading_zeros() as usize / 4).max(least);
    out.extend_from_slice(&digits[16 - needed..]);
}

/// A number in hexadecimal.
#[inline]
pub fn hex(out: &mut Vec<u8>, value: u64) {
    hex_padded(out, value, 1);
}

/// A number in decimal, of at least `least` digits.
#[inline]
pub fn decimal(out: &mut Vec<u8>, mut value: u64, least: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    while value > 0 || digits.len() - at < least {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    out.extend_from_slice(&digits[at..]);
}

/// A number in decimal, perhaps negative.
pub fn signed(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    decimal(out, value.unsigned_abs(), 1);
}

/// A time in microseconds as seconds.microseconds. Not padded, `.9004` is 9004 of them.
#[inline]
pub fn time(out: &mut Vec<u8>, micros: i64, padded: bool) {
    if micros < 0 {
        out.push(b'-');
    }
    let micros = micros.unsigned_abs();
    decimal(out, micros / 1_000_000, 1);
    out.push(b'.');
    decimal(out, micros % 1_000_000, if padded { 6 } else { 1 });
}

/// A file handle in hexadecimal; an empty one as an empty name, or it would be unreadable.
#[inline]
pub fn handle(out: &mut Vec<u8>, bytes: &[u8]) {
    if bytes.is_empty() {
        out.extend_from_slice(b"\"\"");
    }
    out.extend(bytes.iter().flat_map(|byte| PAIRS[usize::from(*byte)]));
}

/// A name in double quotes.
pub fn name(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'"');
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| escaped(*byte)) {
        out.extend_from_slice(&rest[..at]);
        out.push(b'\\');
        out.extend_from_slice(&PAIRS[usize::from(rest[at])]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}

/// A line as it was read.
pub fn line(out: &mut Vec<u8>, line: &[u8]) {
    out.extend_from_slice(line);
    out.push(b'\n');
}

/// A host in printed form: an address in hexadecimal, an anonymized number unchanged; `None` for
/// anything else, which a reader of the text would refuse.
pub fn host(text: &str) -> Option<Box<[u8]>> {
    match text.parse() {
        Ok(IpAddr::V4(address)) => Some(format!("{:08x}", u32::from(address)).into_bytes().into()),
        Ok(IpAddr::V6(address)) => {
            Some(format!("{:032x}", u128::from(address)).into_bytes().into())
        }
        Err(_) => {
            let number = super::super::value::hex(text.as_bytes());
            number.filter(|number| *number <= u32::MAX.into()).map(|_| text.as_bytes().into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_are_hexadecimal_and_lengths_decimal() {
        assert_eq!(printed(|out| hex(out, 0)), "0");
        assert_eq!(printed(|out| hex(out, 0x10)), "10");
        assert_eq!(printed(|out| hex(out, 0xffff_ffff_8465_bccf)), "ffffffff8465bccf");
        assert_eq!(printed(|out| hex_padded(out, 0x9d_82ab, 8)), "009d82ab");
        assert_eq!(printed(|out| signed(out, -4)), "-4");
        assert_eq!(printed(|out| signed(out, 1514)), "1514");
    }

    #[test]
    fn times_are_padded_but_in_version_2() {
        assert_eq!(printed(|out| time(out, 997_133_456_000_999, true)), "997133456.000999");
        assert_eq!(printed(|out| time(out, 1_043_906_504_009_004, false)), "1043906504.9004");
        assert_eq!(printed(|out| time(out, 911_397_415_000_000, false)), "911397415.0");
    }

    #[test]
    fn names_are_escaped_where_a_reader_would_go_astray() {
        assert_eq!(printed(|out| name(out, b"Sent Items")), "\"Sent\\20Items\"");
        assert_eq!(printed(|out| name(out, b"\"\\\t\n\0")), "\"\\22\\5c\\09\\0a\\00\"");
        assert_eq!(printed(|out| name(out, "é".as_bytes())), "\"é\"");
    }

    #[test]
    fn hosts_are_addresses_or_numbers() {
        assert_eq!(host("10.6.136.186").as_deref(), Some(&b"0a0688ba"[..]));
        assert_eq!(host("fe80::1").as_deref(), Some(&b"fe800000000000000000000000000001"[..]));
        assert_eq!(host("31").as_deref(), Some(&b"31"[..]));
        assert_eq!(host("mail.example.org"), None);
    }
}
