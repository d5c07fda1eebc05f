//! Memory above a drive: cached reads, and a write buffer.
//!
//! - [`Lru`]: values by key, with eviction of the least recently used.
//! - [`Blocks`]: blocks with the present sectors of each.
//! - [`WriteBuffer`]: written blocks, until they are on the medium.

mod blocks;
mod lru;
mod writes;

pub use blocks::Blocks;
pub use lru::Lru;
pub use writes::{Group, WriteBuffer, WriteRules, Written};

/// Sectors of a block: 4 KiB (Hsu and Smith, section 4).
pub const BLOCK: u64 = 8;

/// A block, and the sectors of a request that lie in it, a bit each.
pub type Part = (u64, u8);

/// The blocks that contain sectors, each with its share of them.
pub fn parts(sector: u64, sectors: u64) -> impl Iterator<Item = Part> {
    let end = sector + sectors;
    (sector / BLOCK..end.div_ceil(BLOCK)).map(move |block| {
        let first = sector.max(block * BLOCK) - block * BLOCK;
        let last = end.min((block + 1) * BLOCK) - block * BLOCK;
        (block, (0xff_u16 << first & !(0xff << last)) as u8)
    })
}
