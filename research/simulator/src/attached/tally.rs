//! Results of serving a load.

use super::load::{Ask, Kind};
use super::piece::{Part, Piece, Spent};
use crate::spread::Spread;
use serde::Serialize;

/// A system's answers, and the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Answered {
    /// The load.
    pub load: Load,
    /// Response times of all requests.
    pub response: Times,
    /// Response times of requests for blocks of files.
    pub data: Times,
    /// Response times of requests for attributes and directories.
    pub metadata: Times,
    /// Parts of the mean of all.
    pub parts_ms: Parts,
    /// Parts of the mean of requests for blocks.
    pub data_parts_ms: Parts,
    /// The share of blocks read that were in a cache.
    pub hit_ratio: f64,
    /// Utilization of the file manager.
    pub manager_busy: f64,
    /// Mean utilization of the disks' processors.
    pub processors_busy: f64,
    /// Mean utilization of the disks.
    pub disks_busy: f64,
}

/// Size of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Load {
    /// Number of requests.
    pub requests: u64,
    /// Number of bytes.
    pub bytes: u64,
    /// Number of requests for attributes and directories.
    pub metadata_requests: u64,
    /// Number of their bytes.
    pub metadata_bytes: u64,
    /// Seconds from the first request to the last.
    pub seconds: f64,
}

/// Response times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    /// Number of requests.
    pub count: u64,
    /// Mean.
    pub mean_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
}

impl Times {
    /// The counted times, in nanoseconds.
    pub fn of(spread: &Spread) -> Self {
        Self {
            count: spread.count(),
            mean_ms: spread.mean() / 1e6,
            p50_ms: spread.quantile(0.5) / 1e6,
            p95_ms: spread.quantile(0.95) / 1e6,
            p99_ms: spread.quantile(0.99) / 1e6,
        }
    }
}

/// Parts of a mean response time, in milliseconds: those of each request's last piece.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Parts {
    /// Waiting for the file manager.
    pub manager_wait: f64,
    /// The file manager.
    pub manager: f64,
    /// Messages to the disk, and the bus.
    pub network: f64,
    /// Waiting for a disk's processor.
    pub processor_wait: f64,
    /// A disk's processor.
    pub processor: f64,
    /// Waiting for the disk.
    pub disk_wait: f64,
    /// The disk.
    pub disk: f64,
}

impl Parts {
    fn of(spent: &Spent, requests: u64) -> Self {
        let mean = |part| spent[part] as f64 / 1e6 / requests.max(1) as f64;
        Self {
            manager_wait: mean(Part::ManagerWait),
            manager: mean(Part::Manager),
            network: mean(Part::Network),
            processor_wait: mean(Part::ProcessorWait),
            processor: mean(Part::Processor),
            disk_wait: mean(Part::DiskWait),
            disk: mean(Part::Disk),
        }
    }
}

/// Counters while a load is served.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    load: Load,
    all: Spread,
    data: Spread,
    metadata: Spread,
    spent: Spent,
    data_spent: Spent,
    read: u64,
    missed: u64,
    first: Option<u64>,
    last_asked: u64,
    last_done: u64,
}

impl Tally {
    /// Count an arriving request.
    pub fn asked(&mut self, ask: &Ask) {
        let metadata = u64::from(!ask.kind.is_data());
        self.load.requests += 1;
        self.load.bytes += ask.bytes;
        self.load.metadata_requests += metadata;
        self.load.metadata_bytes += metadata * ask.bytes;
        self.first.get_or_insert(ask.at);
        self.last_asked = ask.at;
    }

    /// Count a cache lookup of blocks.
    pub fn looked_up(&mut self, piece: &Piece) {
        if !piece.write {
            self.read += piece.blocks;
            self.missed += piece.missed;
        }
    }

    /// Count a finished request.
    pub fn done(&mut self, kind: Kind, at: u64, spent: Spent) {
        self.last_done = self.last_done.max(at);
        self.all.add(spent.sum());
        self.spent += spent;
        if kind.is_data() {
            self.data.add(spent.sum());
            self.data_spent += spent;
        } else {
            self.metadata.add(spent.sum());
        }
    }

    /// Nanoseconds from the first request to the end of the last.
    pub fn elapsed(&self) -> u64 {
        self.last_done - self.first.unwrap_or(self.last_done)
    }

    /// The results, with the utilization `busy` of the stations.
    pub fn answered(&self, busy: [f64; 3]) -> Answered {
        let first = self.first.unwrap_or(self.last_asked);
        let [manager_busy, processors_busy, disks_busy] = busy;
        Answered {
            load: Load { seconds: (self.last_asked - first) as f64 / 1e9, ..self.load },
            response: Times::of(&self.all),
            data: Times::of(&self.data),
            metadata: Times::of(&self.metadata),
            parts_ms: Parts::of(&self.spent, self.all.count()),
            data_parts_ms: Parts::of(&self.data_spent, self.data.count()),
            hit_ratio: 1.0 - self.missed as f64 / self.read.max(1) as f64,
            manager_busy,
            processors_busy,
            disks_busy,
        }
    }
}
