//! What a run gave.

use crate::store::Parts;
use serde::Serialize;

/// How long a run took, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// When each reader was done, in nanoseconds, the first first.
    pub ends: Vec<u64>,
    /// Reads of a block, locally, or calls.
    pub calls: u64,
    /// What they waited for, all together.
    pub parts: Parts,
    /// Calls that came after one further on in the same file.
    pub overtaken: u64,
    /// Calls that the client sent again, because it waited for too long.
    pub resent: u64,
    /// Calls that go on where one ended, after those that came within each window were put in order.
    pub in_order: Vec<u64>,
    /// The counts of the server's heuristic, all together.
    pub counts: u64,
    /// How often the server's table ejected a file.
    pub ejected: u64,
    /// Nanoseconds for which the drive's link, the server's processor and the client's were at work.
    pub busy: Busy,
    /// Events of the run.
    pub events: u64,
}

/// Nanoseconds of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Busy {
    /// The link between drive, memory and network.
    pub link: u64,
    /// The processor of the machine that has the drive.
    pub server: u64,
    /// The client's.
    pub client: u64,
}
