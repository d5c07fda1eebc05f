//! The figures of a run.

use super::counters::Traffic;
use super::replay::Replay;
use super::verdicts::Books;
use crate::disk::Statistics;
use crate::ffs::Region;
use serde::Serialize;
use std::collections::BTreeMap;

/// Figures of a run. Those of the disk, the cache and the drive exclude the warm-up.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Operations done.
    pub operations: usize,
    /// Operations after the warm-up.
    pub measured_operations: usize,
    /// Seconds of the model's clock.
    pub elapsed: f64,
    /// Seconds after the warm-up.
    pub measured_elapsed: f64,
    /// Seconds after the warm-up in which operations waited for the disk.
    pub measured_waited: f64,
    /// Seconds that the run took here.
    pub seconds: f64,
    /// Whether the trace was longer than the warm-up.
    pub measured: bool,
    /// Requests and bytes by kind.
    pub disk: BTreeMap<&'static str, Traffic>,
    /// Blocks found in the cache.
    pub cache_hits: u64,
    /// Blocks read for want of that.
    pub cache_misses: u64,
    /// Creates, hinted ones that the policy follows, and their outcomes: counts by outcome, for
    /// inodes and for blocks.
    pub hook: BTreeMap<&'static str, u64>,
    /// The hook's own books, if it was asked.
    pub books: Option<Books>,
    /// Size of the region.
    pub region: Option<RegionSize>,
    /// The inconsistency of the file system at the end, if any.
    pub inconsistency: Option<String>,
    /// Counts of operations that failed unexpectedly.
    pub unexpected: BTreeMap<String, u64>,
    /// Files, free inodes and free fragments in the end.
    pub space: Space,
    /// Busy seconds of the drive, and the like, over the whole run.
    pub drive: Option<Statistics>,
}

/// Space of a file system.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Space {
    /// Inodes.
    pub free_inodes: u32,
    /// Fragments, those of whole blocks too.
    pub free_fragments: u64,
    /// Fragments for data.
    pub fragments: u64,
}

/// Size of a region.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RegionSize {
    /// Inodes.
    pub inodes: usize,
    /// Fragments.
    pub fragments: usize,
}

impl RegionSize {
    fn of(region: &Region) -> RegionSize {
        RegionSize { inodes: region.inodes.len(), fragments: region.fragments.len() }
    }
}

const OUTCOMES: [&str; 7] = [
    "inode_placed",
    "block_placed",
    "no_region",
    "inodes_full",
    "blocks_full",
    "taken",
    "too_large",
];

impl Summary {
    pub(super) fn of(replay: &Replay, consistent: Result<(), String>) -> Summary {
        let (system, measured) = (&replay.system, &replay.measured);
        let operations = system.trace.operations.len();
        let total = &system.fs.volume.total;
        let free = u64::from(total.nbfree) * u64::from(system.geometry.frag());
        let hinted = [("asked", system.hinted[0]), ("hinted", system.hinted[1])];
        Summary {
            operations,
            measured_operations: operations - measured.operations,
            elapsed: system.device.now,
            measured_elapsed: system.device.now - measured.now,
            measured_waited: system.device.waited - measured.waited,
            seconds: replay.began.elapsed().as_secs_f64(),
            measured: measured.begun,
            disk: system.device.counters.kinds(),
            cache_hits: system.hits,
            cache_misses: system.misses,
            hook: OUTCOMES.into_iter().zip(system.outcomes).chain(hinted).collect(),
            books: system.verdicts.books(),
            region: system.fs.volume.region.as_ref().map(RegionSize::of),
            inconsistency: consistent.err(),
            unexpected: system.unexpected.clone(),
            space: Space {
                free_inodes: total.nifree,
                free_fragments: free + u64::from(total.nffree),
                fragments: system.geometry.dsize().into(),
            },
            drive: system.device.statistics(),
        }
    }
}
