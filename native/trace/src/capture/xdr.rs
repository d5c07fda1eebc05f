//! External data representation (RFC 4506): big-endian words, and bytes padded to whole words.

/// Why a value could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The bytes end before the value does.
    Short,
    /// The bytes are invalid; with a description of the expected value.
    Bad(&'static str),
}

/// A value, or why there is none.
pub type Decoded<T> = Result<T, Fault>;

/// Reads XDR values one after the other.
#[derive(Clone, Debug)]
pub struct Xdr<'a> {
    rest: &'a [u8],
}

impl<'a> Xdr<'a> {
    /// Reads from the first of the bytes.
    pub fn new(bytes: &'a [u8]) -> Xdr<'a> {
        Xdr { rest: bytes }
    }

    /// The bytes not yet read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// An unsigned 32-bit integer.
    #[inline]
    pub fn u32(&mut self) -> Decoded<u32> {
        let (word, rest) = self.rest.split_first_chunk().ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(u32::from_be_bytes(*word))
    }

    /// An unsigned 64-bit integer.
    #[inline]
    pub fn u64(&mut self) -> Decoded<u64> {
        let (word, rest) = self.rest.split_first_chunk().ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(u64::from_be_bytes(*word))
    }

    /// A boolean.
    #[inline]
    pub fn boolean(&mut self) -> Decoded<bool> {
        match self.u32()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Fault::Bad("a boolean, 0 or 1")),
        }
    }

    /// One of the words `0..=most`; `expected` names them.
    #[inline]
    pub fn choice(&mut self, most: u32, expected: &'static str) -> Decoded<u32> {
        match self.u32()? {
            value if value <= most => Ok(value),
            _ => Err(Fault::Bad(expected)),
        }
    }

    /// Bytes of a number fixed by the protocol, a multiple of four.
    #[inline]
    pub fn fixed(&mut self, length: usize) -> Decoded<&'a [u8]> {
        let (value, rest) = self.rest.split_at_checked(length).ok_or(Fault::Short)?;
        self.rest = rest;
        Ok(value)
    }

    /// Bytes preceded by their number, at most `most`; `expected` names them. Padding may be
    /// missing at the very end of a message.
    #[inline]
    pub fn opaque(&mut self, most: u32, expected: &'static str) -> Decoded<&'a [u8]> {
        let length = self.u32()?;
        if length > most {
            return Err(Fault::Bad(expected));
        }
        let value = self.fixed(length as usize)?;
        let padding = (4 - value.len() % 4) % 4;
        self.rest = &self.rest[padding.min(self.rest.len())..];
        Ok(value)
    }

    /// Skips bytes and their padding, as far as they are present.
    pub fn pass(&mut self, length: u32) {
        let padded = (length as usize).next_multiple_of(4);
        self.rest = &self.rest[padded.min(self.rest.len())..];
    }

    /// The contents of bytes preceded by their number, and whether they are complete.
    pub fn within(&mut self) -> Decoded<(Xdr<'a>, bool)> {
        let length = self.u32()?;
        let there = self.rest.len().min(length as usize);
        let inner = Xdr::new(&self.rest[..there]);
        self.pass(length);
        Ok((inner, there == length as usize))
    }

    /// A string: a file name, a path, a host's name.
    #[inline]
    pub fn string(&mut self) -> Decoded<&'a [u8]> {
        self.opaque(65_535, "a string of less than 64 KiB")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_in_order_and_padding_is_passed_over() {
        // RFC 4506 section 4.10: a string of 5 bytes takes its length and two words
        let mut xdr = Xdr::new(b"\0\0\0\x05hello\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x07");
        assert_eq!(xdr.string(), Ok(&b"hello"[..]));
        assert_eq!(xdr.boolean(), Ok(true));
        assert_eq!(xdr.u64(), Ok(7));
        assert_eq!(xdr.u32(), Err(Fault::Short));
    }

    #[test]
    fn a_length_beyond_the_bytes_is_short_and_one_beyond_the_limit_is_bad() {
        assert_eq!(Xdr::new(b"\0\0\0\x08abc").string(), Err(Fault::Short));
        assert_eq!(Xdr::new(b"\0\0\0\x41").opaque(64, "a handle"), Err(Fault::Bad("a handle")));
        assert_eq!(Xdr::new(b"\0\0\0\x03abc").string(), Ok(&b"abc"[..]));
        assert!(matches!(Xdr::new(b"\0\0\0\x02").boolean(), Err(Fault::Bad(_))));
    }
}
