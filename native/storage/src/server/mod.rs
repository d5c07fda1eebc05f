//! An NFS server, as a capture of its traffic shows it: calls come, and are answered after a time.
//!
//! - [`Call`]: what it is asked; [`Issue`]: when.
//! - [`Parameters`]: what it is: threads, processors, memory, read-ahead, a write buffer, disks.
//! - [`Server`]: serves calls one after the other as they are fed to it, and needs memory for what is
//!   outstanding, for its cache and for the files that it knows, not for the calls.
//! - [`Outcome`]: latencies by kind of call, where the time went, and how busy it was.
//! - [`reuse`]: how much was touched between two uses of the same data.

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
