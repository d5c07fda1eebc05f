//! A model of an NFS server, driven by captured calls.
//!
//! - [`Call`]: a call; [`Issue`]: when it comes.
//! - [`Parameters`]: threads, processors, memory, read-ahead, a write buffer, disks.
//! - [`Server`]: serves calls as they are fed to it. Memory grows with outstanding calls, cache and
//!   files, not with the number of calls.
//! - [`Outcome`]: latencies by kind of call, their parts, and utilization.
//! - [`reuse`]: reuse distances of data.

mod ahead;
mod area;
mod cache;
mod call;
mod dirty;
mod disk;
mod disks;
mod flight;
mod histogram;
mod issue;
mod locks;
mod measured;
mod parameters;
mod per_file;
mod places;
mod reading;
pub mod reuse;
mod run;
mod store;
#[cfg(test)]
mod tests;
mod threads;
mod warm;
mod work;

pub use ahead::Policy;
pub use call::{Call, Class, NO_END, NO_REPLY};
pub use measured::{Figures, Kind as KindOfCall, Outcome, PARTS};
pub use parameters::{Disks, Issue, Kind, Parameters, ServerError};
pub use run::{Each, Server};
pub use work::{Work, WorkError};
