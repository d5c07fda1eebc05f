//! Prefetching beyond the requested sectors (Hsu and Smith, section 4).
//!
//! - [`Nothing`] prefetches nothing.
//! - [`Unit`] prefetches the whole unit that the read lies in.
//! - [`Ahead`] prefetches a fixed amount behind the read.
//! - [`Runs`] prefetches more behind the read, the longer its run.

mod ahead;
mod nothing;
mod runs;
mod unit;

pub use ahead::Ahead;
pub use nothing::Nothing;
pub use runs::Runs;
pub use unit::Unit;

use std::ops::Range;

/// The sectors to fetch from the medium for a miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The sectors.
    pub sectors: Range<u64>,
    /// The read is answered when all before this one have passed.
    pub until: u64,
}

/// A prefetching policy.
pub trait Prefetcher {
    /// Record a read of sectors, hit or miss.
    fn seen(&mut self, _sectors: &Range<u64>) {}

    /// The sectors to fetch for missing ones.
    fn fetch(&self, missing: &Range<u64>) -> Fetch;
}

#[cfg(test)]
mod tests;
