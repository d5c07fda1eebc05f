//! A run of the benchmark: the drive, the files, and the order in which requests wait.

use super::{At, SETS};
use birthmark_storage::cluster::ClusterRules;
use birthmark_storage::drive::{Drive, OutsideError, ParameterError, Parameters};
use birthmark_storage::queue::{Aged, Elevator, Fcfs, NCscan, Order, Tagged};
use birthmark_storage::store::{File, Store};
use rand_xoshiro::rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus as Random;
use serde::Deserialize;

/// Longest time of a single step, in nanoseconds: it keeps every sum in range.
pub const LONGEST: u64 = 10_000_000_000;

/// The range of a time.
pub const TIME: &str = "0 to 10000000000 nanoseconds";

/// A run of the benchmark.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The drive.
    pub drive: Parameters,
    /// The files that are read, one for each reader.
    pub files: Vec<File>,
    /// The order in which the host lets requests wait.
    pub order: HostOrder,
    /// The drive's own order, if it has one.
    pub tags: Option<Tags>,
    /// Rules of clustering and reading ahead.
    pub cluster: ClusterRules,
    /// Bandwidth of the link between drive, memory and network.
    pub link_bytes_per_second: u64,
    /// Bytes of all files together.
    pub bytes: u64,
    /// Number of readers: one of [`SETS`].
    pub readers: u64,
    /// Places at which each file is read in turn; 1: sequentially.
    pub strides: u64,
    /// Seed of all random choices.
    pub seed: u64,
    /// The side that reads.
    pub at: At,
}

/// The order in which a host lets requests wait.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum HostOrder {
    /// [`Elevator`].
    Elevator,
    /// [`NCscan`].
    NCscan,
}

/// The order of a drive with tagged queues, and the number of its tags.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Tags {
    /// First come, first served.
    Fifo {
        /// Requests.
        depth: usize,
    },
    /// [`Aged`].
    Aged {
        /// Requests.
        depth: usize,
        /// Weight of a nanosecond of waiting.
        weight: f64,
    },
}

/// An impossible run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// There is no such drive.
    #[error("drive: {0}")]
    Drive(#[from] ParameterError),
    /// The files are not on it.
    #[error("bytes: files of {0}")]
    Outside(#[from] OutsideError),
    /// A value out of its range.
    #[error("{key}: expected {expected}")]
    Value {
        /// The value.
        key: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}

impl Setup {
    /// Check the setup, except the drive and the ends of files.
    pub fn check(&self) -> Result<(), SetupError> {
        need(SETS.contains(&self.readers), "readers", "1, 2, 4, 8, 16 or 32")?;
        need([512, 8192, 16384, 65536].contains(&self.cluster.block), "cluster.block", "a block")?;
        need((1..=1024).contains(&self.cluster.cluster), "cluster.cluster", "1 to 1024")?;
        need(self.link_bytes_per_second > 0, "link_bytes_per_second", "1 or more")?;
        need((1..=64).contains(&self.strides), "strides", "1 to 64")?;
        let part = 32 * self.readers * self.strides * self.cluster.block;
        let whole = (1..=1 << 34).contains(&self.bytes) && self.bytes.is_multiple_of(part);
        need(whole, "bytes", "16 GB at most, 32 blocks or a multiple for each reader and stride")?;
        let blocks = self.file_bytes() / self.cluster.block;
        let files = self.files.len() as u64 == self.readers
            && self.files.iter().all(|file| file.blocks() == blocks);
        need(files, "files", "one for each reader, all together of so many bytes")?;
        match &self.at {
            At::Local(machine) => {
                need(machine.processor_per_block <= LONGEST, "local.processor_per_block", TIME)?;
                need(self.strides == 1, "strides", "1, where files are read locally")
            }
            At::Nfs(nfs) => nfs.check(self.cluster.block),
        }
    }

    /// Bytes of each reader's file.
    pub fn file_bytes(&self) -> u64 {
        self.bytes / self.readers
    }

    /// The number of the first file of the run, if those of all sets are counted.
    pub fn first_file(&self) -> u64 {
        SETS.iter().take_while(|set| **set < self.readers).sum()
    }

    /// A generator of random numbers, another one for each `purpose`.
    pub fn random(&self, purpose: u64) -> Random {
        Random::seed_from_u64(self.seed.wrapping_mul(1 << 8).wrapping_add(purpose))
    }

    /// Nanoseconds of the link for a number of bytes.
    pub fn link_time(&self, bytes: u64) -> u64 {
        bytes * 1_000_000_000 / self.link_bytes_per_second
    }

    /// The files on their drive.
    pub fn store(&self) -> Result<Store, SetupError> {
        let drive = Drive::new(&self.drive)?;
        let per_block = self.link_time(self.cluster.block);
        Ok(Store::new(self.files.clone(), self.cluster, self.order(), drive, per_block)?)
    }

    fn order(&self) -> Box<dyn Order> {
        let host: Box<dyn Order> = match self.order {
            HostOrder::Elevator => Box::<Elevator>::default(),
            HostOrder::NCscan => Box::<NCscan>::default(),
        };
        match self.tags {
            None => host,
            Some(Tags::Fifo { depth }) => {
                Box::new(Tagged::new(host, Box::<Fcfs>::default(), depth))
            }
            Some(Tags::Aged { depth, weight }) => {
                Box::new(Tagged::new(host, Box::new(Aged::new(weight, depth)), depth))
            }
        }
    }
}

/// Return an error for a value unless `holds`.
pub fn need(holds: bool, key: &'static str, expected: &'static str) -> Result<(), SetupError> {
    if holds {
        return Ok(());
    }
    Err(SetupError::Value { key, expected })
}
