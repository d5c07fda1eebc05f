//! What a load is like.

use serde::Deserialize;

/// What a load is like. Areas are in blocks of 4 KiB.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Streams of requests that know nothing of one another, each with a part of the storage.
    pub streams: u64,
    /// Requests of all of them.
    pub requests: usize,
    /// How many of them, of those that come first, are not counted.
    pub warm_up: usize,
    /// Storage that is in use.
    pub storage_blocks: u64,
    /// The share of requests that read.
    pub read_share: f64,
    /// Where reads go.
    pub reads: Places,
    /// Where writes go.
    pub writes: Places,
    /// When requests come.
    pub pace: Pace,
    /// By how many times the machine is faster on which the load is replayed; none: infinitely.
    pub faster: Option<f64>,
}

/// Where requests go, in episodes: runs, requests scattered over an aligned unit of 64 KiB, and single
/// ones, of which there is what remains.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// The share of episodes with requests of one block; others have 2, 4, 8 or 16, each as often.
    pub small: f64,
    /// The share that are runs.
    pub runs: f64,
    /// Requests of a run in the mean, with a long tail.
    pub run_length: f64,
    /// The share that are scattered.
    pub scattered: f64,
    /// Requests of a scattered one in the mean, geometrically distributed.
    pub scatter_length: f64,
    /// The share of new episodes that are near a late one: at a distance whose logarithm is uniformly
    /// distributed up to a small part of the storage. Others are as far as the whole storage.
    pub near: f64,
    /// The share of episodes that are new if the one before was, or come again after as many others: in
    /// the order in which they came the last time.
    pub in_order: f64,
    /// How often an episode comes again, by how much of others came since; rising.
    pub again: Vec<Depth>,
    /// How much was asked for before the first request.
    pub history_blocks: u64,
}

/// A point of a cumulative distribution, a straight line over the logarithm between two.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Depth {
    /// As much of others, of all streams together.
    pub blocks: f64,
    /// The share of episodes that come again after no more than that.
    pub share: f64,
}

/// When requests come, in milliseconds, on the machine on which the load would have been traced.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// What its drive takes for a request in the mean, exponentially distributed, beside half as much
    /// for each.
    pub service_ms: f64,
    /// Between requests of an episode, from an answer: median and deviation of the logarithm.
    pub think_ms: (f64, f64),
    /// Between episodes of a burst.
    pub pause_ms: (f64, f64),
    /// Between bursts.
    pub idle_ms: (f64, f64),
    /// Episodes of a burst: median and deviation of the logarithm.
    pub burst: (f64, f64),
    /// The share of episodes of a burst that read if the one before did, and write if it did; others do
    /// either by chance.
    pub alike: f64,
    /// The share of episodes that one of another process takes place with.
    pub together: f64,
    /// The share of these that read if the first does, and write if it does.
    pub alike_beside: f64,
    /// The share of reads that the next request of the process does not wait for.
    pub asynchronous_reads: f64,
    /// The same of writes.
    pub asynchronous_writes: f64,
    /// The share of episodes of writes with which many are written at once.
    pub flushes: f64,
    /// How many episodes that are: median and deviation of the logarithm.
    pub flush: (f64, f64),
}

/// A load that cannot be.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: expected {expected}")]
pub struct ShapeError {
    /// What of it.
    pub key: String,
    /// What it should be.
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
    /// Whether a load can be so.
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
