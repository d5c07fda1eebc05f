//! Configuration of a run, from JSON.

use crate::ffs::{Kernel, RegionMode};
use serde::Deserialize;

/// Configuration of a run. See `docs/layout.md`, "The replay".
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The kernel whose allocator and `newfs` are used.
    pub geometry: Kernel,
    /// The name of another allocator.
    pub allocator: Option<String>,
    /// Bytes of the partition.
    pub bytes: f64,
    /// Whether it has a journal of soft updates (`newfs -j`).
    pub journal: bool,
    /// The region for hot objects.
    pub region: Option<RegionConfig>,
    /// Mask of the verdicts that are followed.
    pub policy: u8,
    /// Seed of all random numbers except the ageing's.
    pub seed: u64,
    /// Bytes of the buffer cache.
    pub cache_bytes: f64,
    /// Seconds of the trace before counting begins.
    pub warmup_seconds: f64,
    /// When operations begin.
    pub pace: Pace,
    /// Time of an operation without the disk, microseconds.
    pub operation_us: f64,
    /// Whether reading sets access times.
    pub atime: bool,
    /// Whether writes and commits wait for the disk.
    pub flush: bool,
    /// The ageing pass.
    pub age: Option<Age>,
    /// Whether requests in the region take no time.
    pub nvram: bool,
    /// How the hook asks a service, if it has one and no image.
    pub query: Query,
}

/// When operations begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pace {
    /// As soon as the one before has ended.
    Fast,
    /// At their own times, if the one before has ended.
    Trace,
}

/// A range of bytes of the partition.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegionConfig {
    /// The first byte.
    pub start: f64,
    /// Bytes.
    pub length: f64,
    /// How many inodes it has, from the first of its group on; 0: those in its bytes.
    #[serde(default)]
    pub inodes: u32,
    /// Its parts closed to others.
    pub mode: RegionMode,
}

/// Files made and removed before anything else.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Age {
    /// How much of the space is filled in each round.
    pub fill: f64,
    /// How often it is filled, and a half removed.
    pub rounds: u32,
    /// Seed of its random numbers.
    pub seed: u64,
}

/// How the hook asks a service.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Query {
    /// Whether creates wait for the answer; else it serves the next create of its kind.
    pub wait: bool,
    /// For how long they wait, milliseconds.
    pub deadline_ms: f64,
}

impl Default for Query {
    fn default() -> Query {
        Query { wait: false, deadline_ms: 2.0 }
    }
}

impl Default for Config {
    fn default() -> Config {
        Config {
            geometry: Kernel::FreeBsd48,
            allocator: None,
            bytes: 40.0 * f64::from(1 << 30),
            journal: false,
            region: None,
            policy: 0,
            seed: 1,
            cache_bytes: 800.0 * f64::from(1 << 20),
            warmup_seconds: 3600.0,
            pace: Pace::Fast,
            operation_us: 100.0,
            atime: true,
            flush: false,
            age: None,
            nvram: false,
            query: Query::default(),
        }
    }
}
