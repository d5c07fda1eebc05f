//! Numbers in the byte order of the host that wrote a capture.

/// A byte order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The lowest byte first.
    #[default]
    Little,
    /// The highest byte first.
    Big,
}

impl Order {
    /// The bytes at a place, the highest first; zeros beyond the end.
    #[inline]
    fn bytes<const N: usize>(self, bytes: &[u8], at: usize) -> [u8; N] {
        let mut chunk = bytes.get(at..).and_then(|rest| rest.first_chunk()).copied();
        if let (Order::Little, Some(chunk)) = (self, &mut chunk) {
            chunk.reverse();
        }
        chunk.unwrap_or([0; N])
    }

    /// The 16-bit number at a place; 0 beyond the end.
    pub fn u16(self, bytes: &[u8], at: usize) -> u16 {
        u16::from_be_bytes(self.bytes(bytes, at))
    }

    /// The 32-bit number at a place; 0 beyond the end.
    pub fn u32(self, bytes: &[u8], at: usize) -> u32 {
        u32::from_be_bytes(self.bytes(bytes, at))
    }

    /// The 64-bit number at a place; 0 beyond the end.
    pub fn u64(self, bytes: &[u8], at: usize) -> u64 {
        u64::from_be_bytes(self.bytes(bytes, at))
    }
}
