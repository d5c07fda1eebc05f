//! What is read beyond what was asked for (Hsu and Smith, section 4).
//!
//! - [`Nothing`]: not a sector.
//! - [`Unit`]: the whole unit that the read lies in.
//! - [`Ahead`]: so much behind the read.
//! - [`Runs`]: the more behind it, the longer the run that it goes on.

mod ahead;
mod nothing;
mod runs;
mod unit;

pub use ahead::Ahead;
pub use nothing::Nothing;
pub use runs::Runs;
pub use unit::Unit;

use std::ops::Range;

/// What a read that is not in memory takes from the medium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The sectors.
    pub sectors: Range<u64>,
    /// The read is answered when all before this one have passed.
    pub until: u64,
}

/// Decides what is read beyond what was asked for.
pub trait Prefetcher {
    /// Take note of a read of sectors, wherever they are found.
    fn seen(&mut self, _sectors: &Range<u64>) {}

    /// What to read for sectors that are missing.
    fn fetch(&self, missing: &Range<u64>) -> Fetch;
}

#[cfg(test)]
mod tests;
