//! Results of a run.

use birthmark_storage::store::Parts;
use serde::Serialize;

/// Duration of a run, and its parts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Finishing times of readers in nanoseconds, ascending.
    pub ends: Vec<u64>,
    /// Reads of a block, locally, or calls.
    pub calls: u64,
    /// Sum of their waiting times.
    pub parts: Parts,
    /// Calls that came after one further on in the same file.
    pub overtaken: u64,
    /// Calls that the client sent again after a timeout.
    pub resent: u64,
    /// Sequential calls after reordering within each window.
    pub in_order: Vec<u64>,
    /// Sum of the counts of the server's heuristic.
    pub counts: u64,
    /// Ejections of files from the server's table.
    pub ejected: u64,
    /// Busy nanoseconds of the drive's link, the server's processor and the client's.
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
