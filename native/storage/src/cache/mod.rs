//! Memory above a drive: blocks that were read, and blocks that wait to be written.
//!
//! - [`Lru`]: values by key, the one used least lately first to go.
//! - [`Blocks`]: blocks with the sectors of each that are there.
//! - [`WriteBuffer`]: what was written, until it is on the medium.

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

/// The blocks that sectors lie in, each with those that are in it.
pub fn parts(sector: u64, sectors: u64) -> impl Iterator<Item = Part> {
    let end = sector + sectors;
    (sector / BLOCK..end.div_ceil(BLOCK)).map(move |block| {
        let first = sector.max(block * BLOCK) - block * BLOCK;
        let last = end.min((block + 1) * BLOCK) - block * BLOCK;
        (block, (0xff_u16 << first & !(0xff << last)) as u8)
    })
}
