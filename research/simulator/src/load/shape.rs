//! Parameters of a load.

use serde::Deserialize;

/// Parameters of a load. Areas are in blocks of 4 KiB.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Independent streams of requests, each with a part of the storage.
    pub streams: u64,
    /// Requests of all of them.
    pub requests: usize,
    /// Number of first ones that are not counted.
    pub warm_up: usize,
    /// Storage in use.
    pub storage_blocks: u64,
    /// The share of requests that read.
    pub read_share: f64,
    /// Positions of reads.
    pub reads: Places,
    /// Positions of writes.
    pub writes: Places,
    /// Timing of requests.
    pub pace: Pace,
    /// Speed of the replaying machine relative to the traced one; none: infinite.
    pub faster: Option<f64>,
}

/// Positions of requests, in episodes: runs, requests scattered over an aligned unit of 64 KiB, and
/// single ones, which are the rest.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// The share of episodes with requests of one block; others have 2, 4, 8 or 16, equally often.
    pub small: f64,
    /// The share of runs.
    pub runs: f64,
    /// Mean number of requests of a run, with a long tail.
    pub run_length: f64,
    /// The share of scattered ones.
    pub scattered: f64,
    /// Mean number of requests of a scattered one, geometrically distributed.
    pub scatter_length: f64,
    /// The share of new episodes near a recent one: the logarithm of the distance is uniform up to
    /// a small part of the storage. Others are anywhere in the storage.
    pub near: f64,
    /// The share of episodes that are new if the one before was, or repeat at the same depth: in
    /// the order of their last use.
    pub in_order: f64,
    /// Cumulative distribution of reuse depths; ascending.
    pub again: Vec<Depth>,
    /// Blocks requested before the first request.
    pub history_blocks: u64,
}

/// A point of a cumulative distribution, linear in the logarithm between points.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Depth {
    /// Blocks of other episodes, of all streams together.
    pub blocks: f64,
    /// The share of episodes that repeat within that.
    pub share: f64,
}

/// Timing of requests, in milliseconds, on the traced machine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// The drive's mean time for a request, exponentially distributed, plus half as much for each.
    pub service_ms: f64,
    /// Between requests of an episode, from an answer: median and deviation of the logarithm.
    pub think_ms: (f64, f64),
    /// Between episodes of a burst.
    pub pause_ms: (f64, f64),
    /// Between bursts.
    pub idle_ms: (f64, f64),
    /// Episodes of a burst: median and deviation of the logarithm.
    pub burst: (f64, f64),
    /// The share of episodes of a burst with the same direction as the one before; others are
    /// random.
    pub alike: f64,
    /// The share of episodes that overlap one of another process.
    pub together: f64,
    /// The share of these with the same direction as the first.
    pub alike_beside: f64,
    /// The share of reads that the process's next request does not wait for.
    pub asynchronous_reads: f64,
    /// The same of writes.
    pub asynchronous_writes: f64,
    /// The share of episodes of writes that are flushes of many.
    pub flushes: f64,
    /// Number of episodes of a flush: median and deviation of the logarithm.
    pub flush: (f64, f64),
}

/// An impossible load.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: expected {expected}")]
pub struct ShapeError {
    /// The parameter.
    pub key: String,
    /// Its range.
    pub expected: &'static str,
}

fn need(holds: bool, key: &str, expected: &'static str) -> Result<(), ShapeError> {
    if holds {
        return Ok(());
    }
    Err(ShapeError { key: key.into(), expected })
}

fn share(value: f64, key: &str) -> Result<(), ShapeError> {
    need((0.0..=1.0).contains(&value), key, "0 to 1")
}

impl Shape {
    /// Check that such a load is possible.
    pub fn check(&self) -> Result<(), ShapeError> {
        need((1..=1000).contains(&self.streams), "streams", "1 to 1000")?;
        need(self.requests <= 100_000_000, "requests", "0 to 100000000")?;
        let blocks = self.storage_blocks / self.streams;
        need(
            (65_536..1 << 40).contains(&blocks),
            "storage_blocks",
            "65536 or more for each stream",
        )?;
        share(self.read_share, "read_share")?;
        self.reads.check("reads")?;
        self.writes.check("writes")?;
        self.pace.check()?;
        let faster = self.faster.is_none_or(|faster| faster >= 1.0);
        need(faster, "faster", "1 or more")
    }
}

impl Places {
    fn check(&self, of: &str) -> Result<(), ShapeError> {
        let key = |member: &str| format!("{of}.{member}");
        share(self.small, &key("small"))?;
        share(self.runs, &key("runs"))?;
        share(self.scattered, &key("scattered"))?;
        share(self.runs + self.scattered, &format!("{of}.runs and scattered together"))?;
        share(self.near, &key("near"))?;
        share(self.in_order, &key("in_order"))?;
        let length = 1.0..=1000.0;
        need(length.contains(&self.run_length), &key("run_length"), "1 to 1000")?;
        need(length.contains(&self.scatter_length), &key("scatter_length"), "1 to 1000")?;
        need(self.history_blocks <= 1 << 28, &key("history_blocks"), "0 to 268435456")?;
        let rises =
            |pair: &[Depth]| pair[0].blocks < pair[1].blocks && pair[0].share <= pair[1].share;
        need(self.again.windows(2).all(rises), &key("again"), "blocks and shares that rise")?;
        for depth in &self.again {
            share(depth.share, &key("again"))?;
            need((1.0..1e12).contains(&depth.blocks), &key("again"), "1 block or more")?;
        }
        Ok(())
    }
}

impl Pace {
    fn check(&self) -> Result<(), ShapeError> {
        let time = |ms: f64, key: &str| need((0.0..=1e9).contains(&ms), key, "0 to 1e9 ms");
        time(self.service_ms, "pace.service_ms")?;
        for ((median, deviation), key) in [
            (self.think_ms, "pace.think_ms"),
            (self.pause_ms, "pace.pause_ms"),
            (self.idle_ms, "pace.idle_ms"),
            (self.burst, "pace.burst"),
            (self.flush, "pace.flush"),
        ] {
            time(median, key)?;
            need((0.0..=5.0).contains(&deviation), key, "a deviation from 0 to 5")?;
        }
        need((0.0..=0.99).contains(&self.together), "pace.together", "0 to 0.99")?;
        share(self.alike, "pace.alike")?;
        share(self.alike_beside, "pace.alike_beside")?;
        share(self.asynchronous_reads, "pace.asynchronous_reads")?;
        share(self.asynchronous_writes, "pace.asynchronous_writes")?;
        share(self.flushes, "pace.flushes")?;
        let counts = 1.0..=1e6;
        need(counts.contains(&self.burst.0), "pace.burst", "1 to 1000000")?;
        need(counts.contains(&self.flush.0), "pace.flush", "1 to 1000000")
    }
}
