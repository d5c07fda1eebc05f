//! The parts of a system, and the costs of its steps.

use super::{BLOCK, CHUNK};
use birthmark_storage::drive::{ParameterError, Parameters};
use serde::Deserialize;

/// A system that serves files to clients over a network.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attached {
    /// The side that answers clients.
    pub organization: Organization,
    /// Disks over which files are striped.
    pub disks: usize,
    /// Millions of instructions a second of the file manager.
    pub manager_mips: f64,
    /// MiB of the file manager's cache; ignored if the disks answer.
    pub manager_cache_mb: u64,
    /// Millions of instructions a second of each disk; ignored if the file manager answers.
    pub disk_mips: f64,
    /// MiB of each disk's cache; ignored if the file manager answers.
    pub disk_cache_mb: u64,
    /// Costs of steps.
    pub costs: Costs,
    /// The model of each disk; else a time that depends only on the size of a request.
    pub drive: Option<Parameters>,
}

/// The side that answers requests for blocks of files.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Organization {
    /// The file manager, which has the cache, and the disks on a bus.
    ServerDisk,
    /// The disks, which have caches and processors; the file manager forwards requests to them.
    NetDisk,
}

/// Costs of steps: processors in instructions, all else in milliseconds (table 1 of the paper).
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// Instructions of the file manager for attributes.
    pub attributes: f64,
    /// Instructions of the file manager for a block in its cache.
    pub manager_hit: f64,
    /// Instructions of the file manager for a block outside its cache.
    pub manager_miss: f64,
    /// Instructions of the file manager to find a chunk's disk and to send it a message.
    pub forward: f64,
    /// Instructions that a disk executes for a block in its cache.
    pub disk_hit: f64,
    /// Instructions that a disk executes for a block that misses its cache.
    pub disk_miss: f64,
    /// Instructions to send an answer, or to receive written data, over the clients' network.
    pub reply: Priced,
    /// Milliseconds of a disk.
    pub disk_ms: Priced,
    /// Milliseconds of the bus between disks and file manager.
    pub bus_ms: Priced,
    /// Milliseconds until a message from the file manager reaches a disk.
    pub control_ms: f64,
}

/// Costs of one block and of a whole chunk; linear in between.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Priced {
    /// Of one block.
    pub block: f64,
    /// Of a whole chunk.
    pub chunk: f64,
}

impl Priced {
    /// The cost of `blocks` blocks.
    pub fn of(&self, blocks: u64) -> f64 {
        self.block + (self.chunk - self.block) * (blocks as f64 - 1.0) / (CHUNK - 1) as f64
    }
}

/// An impossible system.
#[derive(Debug, thiserror::Error)]
pub enum AttachedError {
    /// A value out of its range.
    #[error("{key}: expected {expected}")]
    Value {
        /// The key.
        key: &'static str,
        /// The range.
        expected: &'static str,
    },
    /// Its drive.
    #[error("drive: {0}")]
    Drive(#[from] ParameterError),
}

impl Attached {
    /// Check that such a system is possible.
    pub(super) fn check(&self) -> Result<(), AttachedError> {
        let need = |it: bool, key, expected| match it {
            true => Ok(()),
            false => Err(AttachedError::Value { key, expected }),
        };
        let fast = |mips: f64| (1e-3..=1e9).contains(&mips);
        let room = |mb: u64| mb <= 1 << 20;
        need((1..=10_000).contains(&self.disks), "disks", "1 to 10000")?;
        need(fast(self.manager_mips), "manager_mips", "0.001 to 1e9")?;
        need(fast(self.disk_mips), "disk_mips", "0.001 to 1e9")?;
        need(room(self.manager_cache_mb), "manager_cache_mb", "at most 1048576")?;
        need(room(self.disk_cache_mb), "disk_cache_mb", "at most 1048576")?;
        let costs = &self.costs;
        let priced = [costs.reply, costs.disk_ms, costs.bus_ms].map(|own| [own.block, own.chunk]);
        let all = [costs.attributes, costs.manager_hit, costs.manager_miss, costs.forward];
        let rest = [costs.disk_hit, costs.disk_miss, costs.control_ms];
        let mut every = all.iter().chain(&rest).chain(priced.as_flattened());
        need(every.all(|own| (0.0..=1e9).contains(own)), "costs", "each 0 to 1e9")
    }

    /// Blocks of the file manager's cache.
    pub(super) fn manager_blocks(&self) -> usize {
        (self.manager_cache_mb * (1 << 20) / BLOCK) as usize
    }

    /// Blocks of each disk's cache.
    pub(super) fn disk_blocks(&self) -> usize {
        (self.disk_cache_mb * (1 << 20) / BLOCK) as usize
    }
}
