//! Disks behind a server, or attached to the network: the two organizations of Ma and Reddy (Ma,
//! "Evaluation of storage systems based on network-attached disks", M.S. thesis, Texas A&M
//! University, 1998).
//!
//! - [`Attached`]: the parts of a system, and the costs of its steps.
//! - [`load`]: loads: two synthetic classes, and traces in the format of the Auspex trace.
//! - [`run`]: serves a load, and reports where its time went.

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

/// Bytes of a cache block.
pub const BLOCK: u64 = 4096;

/// Blocks of a chunk, which lies on one disk.
pub const CHUNK: u64 = 16;

#[cfg(test)]
mod tests;
