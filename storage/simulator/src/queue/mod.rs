//! Orders in which waiting requests are served.
//!
//! - [`Fcfs`]: the order of arrival.
//! - [`Elevator`]: FreeBSD's `bufqdisksort`.
//! - [`NCscan`]: sweeps that nothing joins once they have begun.
//! - [`Aged`]: shortest access time first, with credit for waiting.
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

use crate::drive::{Drive, Mechanism, Request};

/// A waiting request, with a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its number.
    pub number: usize,
    /// Its arrival, in nanoseconds.
    pub since: u64,
    /// The request.
    pub request: Request,
}

/// The head's position, as access times.
pub trait Arm {
    /// Nanoseconds from time `now` until the first sector of a request would begin to pass.
    fn reach(&self, request: &Request, now: u64) -> u64;
}

impl Arm for Mechanism {
    fn reach(&self, request: &Request, now: u64) -> u64 {
        Mechanism::reach(self, request.sector, now, request.write)
    }
}

/// A drive with an order of its own knows its buffer, too.
impl Arm for Drive {
    fn reach(&self, request: &Request, now: u64) -> u64 {
        Drive::reach(self, request, now)
    }
}

/// A queue with an order of service.
pub trait Order {
    /// Add a request that came after all before.
    fn push(&mut self, waiting: Waiting);

    /// Take the one to serve next, at time `now`.
    fn pop(&mut self, now: u64, arm: &dyn Arm) -> Option<Waiting>;

    /// Number of requests.
    fn len(&self) -> usize;

    /// Whether it is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests;
