//! The trailer that ends every line: `con = N len = N`, before which replies have
//! `status=N pl = N`. A line without it is damaged.

use super::line::Words;
use super::value::hex;
use super::words::Direction;
use super::write;
use super::Damage;
use crate::form::{Form, Printed};

/// The rest of a line after its trailer's first word, in the published traces.
const PUBLISHED: [&[u8]; 2] = [b" = XXX len = XXX", b" pl = XXX con = XXX len = XXX"];

/// Whether a word may begin a trailer, or comment on the packet: the names of most fields begin
/// with another letter.
#[inline]
pub fn may_be_other(key: &[u8]) -> bool {
    matches!(key, [] | [b'c' | b's' | b'J' | b'L' | b'P' | b'S', ..])
}

/// Whether a word is the first of a trailer.
#[inline]
pub fn begins(key: &[u8], direction: Direction) -> bool {
    let key = key.strip_prefix(b"PACKET").unwrap_or(key); // SHORT PACKET is glued to it
    match direction {
        Direction::Call => key == b"con" || key.starts_with(b"con="),
        // `con = 130` stands before the trailer where the packet was cut
        Direction::Reply => key == b"con" || key.starts_with(b"status="),
    }
}

/// A word that comments on a packet's size and is dropped: the rest is complete.
pub fn is_mark(text: &[u8]) -> bool {
    matches!(text, b"JUMBO" | b"LONGPACKET" | b"PACKET") || text.starts_with(b"LONGPKT")
}

/// Reads the rest of a trailer; returns whether it says that the packet was cut short. A second
/// trailer may follow, and the marks of large packets.
pub fn read(rest: &[u8]) -> Result<bool, Damage> {
    if PUBLISHED.contains(&rest) {
        return Ok(false);
    }
    let mut words = Words { rest, spaced: false };
    let mut short = false;
    let (mut length, mut complete) = (false, false);
    loop {
        let text = words.take();
        match text {
            b"" if complete => return Ok(short),
            b"" => return Err(("no-trailer", "a whole trailer, con = … len = …, at the end")),
            b"=" => {}
            text if is_mark(text) => {}
            b"SHORT" => short = true,
            b"con" | b"pl" => (length, complete) = (false, false),
            b"len" => (length, complete) = (true, false),
            text => {
                let (key, value) = match memchr::memchr(b'=', text) {
                    Some(equals) => (&text[..equals], &text[equals + 1..]),
                    None => (&text[..0], text),
                };
                if !matches!(key, b"" | b"con" | b"pl" | b"len" | b"status") || !is_value(value) {
                    return Err(("trailing-text", "nothing after the trailer"));
                }
                complete = key == b"len" || (key.is_empty() && length);
            }
        }
    }
}

/// The form of a whole trailer, including a reply's status; none if [`write`] would print it
/// otherwise. `scratch` is left empty.
pub fn printed(whole: &[u8], status: Option<u32>, scratch: &mut Vec<u8>) -> Option<Printed> {
    let mut printed = Printed::default();
    match status {
        Some(_) if whole == b"status=XXX pl = XXX con = XXX len = XXX" => return Some(printed),
        None if whole == b"con = XXX len = XXX" => return Some(printed),
        _ => {}
    }
    let con = memchr::memmem::find(whole, b"con")?;
    let spaced = whole[con + 3..].starts_with(b" = ");
    let mut lengths = Words { rest: &whole[con..], spaced: false };
    printed.form = Form::NUMBERS.with(Form::SPACED, spaced);
    (printed.con, printed.len) = (length(&mut lengths, spaced), length(&mut lengths, spaced));
    write::trailer(&printed, status, scratch);
    let same = scratch.strip_prefix(b" ").and_then(|text| text.strip_suffix(b"\n")) == Some(whole);
    scratch.clear();
    same.then_some(printed)
}

/// The number of the next key, `con=130` or `con = 130`.
fn length(words: &mut Words, spaced: bool) -> Option<u32> {
    let mut word = words.take();
    if spaced {
        words.take();
        word = words.take();
    }
    let digits = word.rsplit(|byte| *byte == b'=').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A trailer's number, hidden or not; lengths may be negative.
fn is_value(text: &[u8]) -> bool {
    text == b"XXX" || hex(text.strip_prefix(b"-").unwrap_or(text)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_is_read_in_every_form() {
        for rest in [
            b" = XXX len = XXX".as_slice(),
            b" = 82 len = 97 con = XXX len = XXX",
            b" = XXX len = XXX JUMBO",
            b" pl=-4 con=70 len=66",
        ] {
            assert_eq!(read(rest), Ok(false), "{}", String::from_utf8_lossy(rest));
        }
        assert_eq!(read(b" = XXX len = XXX SHORT PACKET"), Ok(true));
    }

    #[test]
    fn no_word_of_a_trailer_or_remark_is_taken_for_a_field_by_its_first_letter() {
        for word in ["", "SHORT", "JUMBO", "LONGPACKET", "LONGPKT-1", "PACKET"] {
            assert!(may_be_other(word.as_bytes()), "{word}");
        }
        for word in ["con", "con=1", "status=0", "PACKETcon", "PACKETstatus=0"] {
            let (word, both) = (word.as_bytes(), [Direction::Call, Direction::Reply]);
            assert!(both.iter().any(|direction| begins(word, *direction)) && may_be_other(word));
        }
        assert!(!may_be_other(b"fh") && !may_be_other(b"mode"));
    }

    #[test]
    fn a_trailer_cut_or_followed_by_another_record_is_damage() {
        for rest in [b"".as_slice(), b" = XXX len =", b" = XXX len", b" = XXX"] {
            assert_eq!(read(rest).unwrap_err().0, "no-trailer");
        }
        let glued = b" = XXX len = XXX1006231501.391115 31.03f7";
        assert_eq!(read(glued).unwrap_err().0, "trailing-text");
    }
}
