//! Base64 (RFC 4648, section 4).

/// The bytes of a text. As in Python, the bits beyond the last byte may be any.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let padding = text.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let signs = &text[..text.len() - padding];
    for four in signs.chunks(4) {
        let mut number = 0;
        for place in 0..4 {
            let value = four.get(place).map_or(Some(0), |sign| value(*sign))?;
            number = number << 6 | u32::from(value);
        }
        let [_, three @ ..] = number.to_be_bytes();
        bytes.extend(three.iter().take(four.len() - 1));
    }
    Some(bytes)
}

fn value(sign: u8) -> Option<u8> {
    match sign {
        b'A'..=b'Z' => Some(sign - b'A'),
        b'a'..=b'z' => Some(sign - b'a' + 26),
        b'0'..=b'9' => Some(sign - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}
