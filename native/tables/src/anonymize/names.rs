//! Maps names piece by piece, so that models find the same structure in the images.
//!
//! A name is cut at every period (and a path at every slash), which stay. The *marks* at the
//! beginning and end of a piece stay: `#`, `~`, `,` and RCS's `,v`. The rest is its *core*. Each of
//! its first [`HEAD`] bytes is mapped to one byte, chosen by the bytes before it in the core. So
//! two cores share a prefix of up to that length if and only if their images do. The bytes after
//! them are mapped together, to letters and digits of a fixed number.
//!
//! The components of a name (thesis Figure 6.2) are its pieces, the whole, and its first five
//! bytes. The last is why prefixes must correspond: `a.conf` and `a.corn` share their first five
//! bytes and `a.call` only three with them, while each piece is the same wherever it stands.

use super::pairs::Pairs;
use super::random::Random;
use std::io;

/// The number of bytes of a core mapped one by one: those that a name's prefix component can show.
pub const HEAD: usize = 5;

/// The number of letters and digits for the bytes after them.
const TOKEN: usize = 6;

/// The alphabet of images, preferred while any of it is free.
const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// How often a letter is drawn before free ones are searched.
const TRIES: u32 = 64;

fn any(_: &u8) -> bool {
    true
}

/// Draws the next byte of an image: not a digit first, lest the image look like a number.
fn draw_letter(before: &[u8], random: &mut Random) -> io::Result<u8> {
    let letters = if before.is_empty() { 26 } else { LETTERS.len() };
    Ok(LETTERS[random.below(letters as u32)? as usize])
}

/// Whether a byte ends a piece.
#[inline]
fn separates(byte: u8) -> bool {
    matches!(byte, b'.' | b'/' | 0)
}

#[inline]
fn is_mark(byte: u8) -> bool {
    matches!(byte, b'#' | b'~' | b',')
}

/// Whether a byte is mapped to itself at its position.
fn stays(before: &[u8], byte: u8) -> bool {
    is_mark(byte) || (byte == b'v' && before.ends_with(b","))
}

/// Cuts a piece into the marks before its core, its core, and the marks after it.
fn cut(piece: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let start = piece.iter().position(|byte| !is_mark(*byte)).unwrap_or(piece.len());
    let (before, rest) = piece.split_at(start);
    let mut core = rest;
    loop {
        core = match core {
            [head @ .., b',', b'v'] if !head.is_empty() => head,
            [head @ .., last] if is_mark(*last) => head,
            _ => return (before, core, &rest[core.len()..]),
        };
    }
}

/// The table of names. Its keys are cores and all prefixes of heads.
pub struct Names {
    /// The pairs so far.
    pub pairs: Pairs,
    head: usize,
}

impl Names {
    /// Returns a table that maps `head` bytes of a core one by one: [`HEAD`], or none.
    pub fn new(head: usize) -> Names {
        Names { pairs: Pairs::default(), head }
    }

    /// Writes the image of a name or a path to `out`.
    pub fn map(&mut self, name: &[u8], random: &mut Random, out: &mut Vec<u8>) -> io::Result<()> {
        let mut rest = name;
        while !rest.is_empty() {
            let end = rest.iter().position(|byte| separates(*byte)).unwrap_or(rest.len());
            self.piece(&rest[..end], random, out)?;
            out.extend(rest.get(end));
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        Ok(())
    }

    /// Exempts the pieces of a name from mapping; returns false if one was mapped before.
    pub fn keep(&mut self, name: &[u8]) -> bool {
        name.split(|byte| separates(*byte)).all(|piece| {
            let core = cut(piece).1;
            let heads = (1..=self.head.min(core.len())).map(|end| &core[..end]);
            heads.chain([core]).all(|part| match self.pairs.get(part) {
                Some(value) => value == part,
                None => part.is_empty() || self.pairs.add(part, part),
            })
        })
    }

    fn piece(&mut self, piece: &[u8], random: &mut Random, out: &mut Vec<u8>) -> io::Result<()> {
        let (before, core, after) = cut(piece);
        out.extend_from_slice(before);
        match self.pairs.get(core) {
            Some(value) => out.extend_from_slice(value),
            None if core.is_empty() => {}
            None => out.extend_from_slice(&self.draw(core, random)?),
        }
        out.extend_from_slice(after);
        Ok(())
    }

    /// Draws the image of a new core.
    fn draw(&mut self, core: &[u8], random: &mut Random) -> io::Result<Vec<u8>> {
        let mut value = Vec::with_capacity(self.head + TOKEN);
        for end in 1..=self.head.min(core.len()) {
            match self.pairs.get(&core[..end]) {
                Some(known) => value = known.to_vec(),
                None => {
                    self.draw_byte(core[end - 1], random, &mut value)?;
                    self.pairs.add(&core[..end], &value);
                }
            }
        }
        if core.len() > self.head {
            self.draw_token(random, &mut value)?;
            self.pairs.add(core, &value);
        }
        Ok(value)
    }

    /// Extends the prefix of a core's image to one that no other prefix has. One is always free: as
    /// many bytes can be drawn as are mapped.
    fn draw_byte(&self, byte: u8, random: &mut Random, value: &mut Vec<u8>) -> io::Result<()> {
        if stays(value, byte) {
            value.push(byte);
            return Ok(());
        }
        for _ in 0..TRIES {
            let letter = draw_letter(value, random)?;
            if self.is_free(value, letter) {
                value.push(letter);
                return Ok(());
            }
        }
        let tiers: &[fn(&u8) -> bool] = if value.is_empty() {
            &[u8::is_ascii_lowercase, u8::is_ascii_uppercase, |byte| !byte.is_ascii_digit(), any]
        } else {
            &[|byte| LETTERS.contains(byte), u8::is_ascii_alphanumeric, u8::is_ascii_graphic, any]
        };
        for tier in tiers {
            let mut free: Vec<u8> = (1..=u8::MAX).filter(tier).collect();
            free.retain(|candidate| self.is_free(value, *candidate));
            if !free.is_empty() {
                value.push(free[random.below(free.len() as u32)? as usize]);
                break;
            }
        }
        Ok(())
    }

    /// Whether a byte can extend the prefix of a core's image.
    fn is_free(&self, value: &mut Vec<u8>, candidate: u8) -> bool {
        if stays(value, candidate) || separates(candidate) {
            return false;
        }
        value.push(candidate);
        let free = !self.pairs.has_value(value);
        value.pop();
        free
    }

    /// Adds letters and digits that no other core with that head has; one more if those are
    /// crowded.
    fn draw_token(&self, random: &mut Random, value: &mut Vec<u8>) -> io::Result<()> {
        let head = value.len();
        let spare = if self.head == 0 { 2 } else { 0 };
        for tries in 0.. {
            value.truncate(head);
            for _ in 0..TOKEN + spare + tries / 16 {
                value.push(draw_letter(value, random)?);
            }
            if !self.pairs.has_value(value) {
                break;
            }
        }
        Ok(())
    }
}
