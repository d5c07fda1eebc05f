//! Disks behind a server, or on the network themselves: the two organizations of Ma and Reddy (Ma,
//! "Evaluation of storage systems based on network-attached disks", M.S. thesis, Texas A&M
//! University, 1998).
//!
//! - [`Attached`]: what a system is made of, and what each step costs.
//! - [`load`]: what is asked of it: two synthetic classes, and traces in the format of the Auspex trace.
//! - [`run`]: serve a load, and say where its time went.

mod config;
mod disk;
pub mod load;
mod piece;
mod run;
mod system;
mod tally;

pub use config::{Attached, AttachedError, Costs, Organization, Priced};
pub use run::{run, Asked, RunError};
pub use tally::{Answered, Load, Parts, Times};

/// Bytes of a block, of which the caches are made.
pub const BLOCK: u64 = 4096;

/// Blocks of a chunk, which lies on one disk.
pub const CHUNK: u64 = 16;

#[cfg(test)]
mod tests;
