//! The order in which requests that wait are served.
//!
//! - [`Fcfs`]: that in which they came.
//! - [`Elevator`]: FreeBSD's `bufqdisksort`.
//! - [`NCscan`]: sweeps that nothing joins once they have begun.
//! - [`Aged`]: the one that the head reaches soonest, less for having waited.
//! - [`Tagged`]: a drive's own order behind a host's.

mod aged;
mod elevator;
mod fcfs;
mod ncscan;
mod tagged;

pub use aged::Aged;
pub use elevator::Elevator;
pub use fcfs::Fcfs;
pub use ncscan::NCscan;
pub use tagged::Tagged;

use crate::drive::Request;

/// A request that waits, called by a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its number.
    pub number: usize,
    /// When it came, in nanoseconds.
    pub since: u64,
    /// What it asks for.
    pub request: Request,
}

/// Where the head is, and how soon it is elsewhere.
pub trait Arm {
    /// Nanoseconds from time `now` until the first sector of a request would begin to pass.
    fn reach(&self, request: &Request, now: u64) -> u64;
}

/// Requests that wait, and which of them is served next.
pub trait Order {
    /// Let a request wait, which came after all before.
    fn push(&mut self, waiting: Waiting);

    /// Take the one to serve next, at time `now`.
    fn pop(&mut self, now: u64, arm: &dyn Arm) -> Option<Waiting>;

    /// How many wait.
    fn len(&self) -> usize;

    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests;
