//! Bytes as words of a line of text: names in double quotes, anything else in hexadecimal.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Writes a byte in two hexadecimal digits.
#[inline]
pub fn hex(byte: u8, out: &mut Vec<u8>) {
    out.push(DIGITS[usize::from(byte >> 4)]);
    out.push(DIGITS[usize::from(byte & 15)]);
}

/// Writes a number in at least `least` hexadecimal digits.
#[inline]
pub fn number(number: u32, least: u32, out: &mut Vec<u8>) {
    let needed = (32 - number.leading_zeros()).div_ceil(4).max(least);
    for digit in (0..needed).rev() {
        out.push(DIGITS[(number >> (4 * digit)) as usize & 15]);
    }
}

/// Writes a name in double quotes. White space, quotes and backslashes become a backslash and two
/// hexadecimal digits, as in nfsdump; so do bytes that are not text, if `strict`.
pub fn quote(name: &[u8], strict: bool, out: &mut Vec<u8>) {
    out.push(b'"');
    for byte in name {
        let special = byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\\' | 0);
        if special || (strict && !byte.is_ascii_graphic()) {
            out.push(b'\\');
            hex(*byte, out);
        } else {
            out.push(*byte);
        }
    }
    out.push(b'"');
}

/// Reads the output of [`quote`]; returns false for anything else.
pub fn unquote(text: &[u8], out: &mut Vec<u8>) -> bool {
    let inner = text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\""));
    let Some(mut rest) = inner else {
        return false;
    };
    while let Some(escape) = memchr::memchr2(b'\\', b'"', rest) {
        out.extend_from_slice(&rest[..escape]);
        match rest[escape..] {
            [b'\\', high, low, ..] if unhex(&[high, low], out) => rest = &rest[escape + 3..],
            _ => return false,
        }
    }
    out.extend_from_slice(rest);
    true
}

/// Reads bytes in hexadecimal, two digits each; returns false for anything else.
pub fn unhex(text: &[u8], out: &mut Vec<u8>) -> bool {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    text.len().is_multiple_of(2)
        && text.chunks_exact(2).all(|pair| match (digit(pair[0]), digit(pair[1])) {
            (Some(high), Some(low)) => {
                out.push(high << 4 | low);
                true
            }
            _ => false,
        })
}
