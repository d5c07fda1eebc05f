//! Parameters of the machines and the network.

use crate::bench::SetupError;
use serde::Deserialize;

/// Bytes of a page of the client.
pub const PAGE: u64 = 4096;

/// A process that reads a file, and its machines. Times are in nanoseconds.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of a read of the process.
    pub asked: u64,
    /// Time to copy these until the next read.
    pub copy: u64,
    /// Most bytes that the client reads ahead (`read_ahead_kb`).
    pub read_ahead: u64,
    /// Most bytes of a call.
    pub rsize: u64,
    /// Bytes a second of the network.
    pub wire: u64,
    /// Delay from one machine to the other.
    pub latency: u64,
    /// Threads of the server (`nfsd`).
    pub threads: usize,
    /// Mean wake-up time of a thread, drawn.
    pub wake: u64,
    /// The server's work for a call, without the disks'.
    pub work: u64,
    /// Bytes of a record, which is read from one disk.
    pub record: u64,
    /// Number of disks over which records are striped.
    pub disks: usize,
    /// Bytes a second of a disk.
    pub disk_rate: u64,
    /// Time to position for a record that does not follow the last one.
    pub position: u64,
    /// Greatest gap of an early read that still belongs to a stream (`zfetch_max_reorder`).
    pub max_reorder: u64,
    /// Seed of the threads' wake-up times.
    pub seed: u64,
}

impl Stream {
    /// Check that such machines are possible.
    pub fn check(&self) -> Result<(), SetupError> {
        let pages = |bytes: u64| (PAGE..=1 << 30).contains(&bytes) && bytes.is_multiple_of(PAGE);
        let sizes = [
            ("bytes", pages(self.bytes)),
            ("asked", pages(self.asked) && self.bytes.is_multiple_of(self.asked)),
            ("read_ahead", pages(self.read_ahead)),
            ("rsize", pages(self.rsize)),
            ("record", pages(self.record)),
        ];
        for (key, holds) in sizes {
            need(
                holds,
                key,
                "pages of 4096 bytes, 1 GB at most; those asked for a part of the file",
            )?;
        }
        let rates =
            (1_000..=1 << 40).contains(&self.wire) && (1_000..=1 << 40).contains(&self.disk_rate);
        need(rates, "wire, disk_rate", "1000 to 2^40 bytes a second")?;
        let times = [self.copy, self.latency, self.wake, self.work, self.position];
        let short = times.iter().all(|time| *time <= 1_000_000_000);
        need(short, "times", "0 to 1000000000 nanoseconds")?;
        let many = (1..=4096).contains(&self.threads) && (1..=4096).contains(&self.disks);
        need(many, "threads, disks", "1 to 4096")?;
        need(self.max_reorder <= 1 << 40, "max_reorder", "2^40 bytes at most")
    }
}

/// Return an error for a value unless `holds`.
fn need(holds: bool, key: &'static str, expected: &'static str) -> Result<(), SetupError> {
    if holds {
        return Ok(());
    }
    Err(SetupError::Value { key, expected })
}
