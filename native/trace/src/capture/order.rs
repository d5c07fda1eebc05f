//! Numbers in the byte order of the host that wrote a capture.

/// A byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The lowest byte first.
    Little,
    /// The highest byte first.
    Big,
}

/// The bytes at a place; zeros where they end before.
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

impl Order {
    /// The 16-bit number at a place; 0 where the bytes end before.
    pub fn u16(self, bytes: &[u8], at: usize) -> u16 {
        match self {
            Order::Little => u16::from_le_bytes(chunk(bytes, at)),
            Order::Big => u16::from_be_bytes(chunk(bytes, at)),
        }
    }

    /// The 32-bit number at a place; 0 where the bytes end before.
    pub fn u32(self, bytes: &[u8], at: usize) -> u32 {
        match self {
            Order::Little => u32::from_le_bytes(chunk(bytes, at)),
            Order::Big => u32::from_be_bytes(chunk(bytes, at)),
        }
    }

    /// The 64-bit number at a place; 0 where the bytes end before.
    pub fn u64(self, bytes: &[u8], at: usize) -> u64 {
        match self {
            Order::Little => u64::from_le_bytes(chunk(bytes, at)),
            Order::Big => u64::from_be_bytes(chunk(bytes, at)),
        }
    }
}
