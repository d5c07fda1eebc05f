//! What became of a trace.

use crate::drive::Service;
use crate::spread::Spread;
use crate::validation::Parts;
use serde::Serialize;

/// Nanoseconds of a millisecond.
const MILLISECOND: f64 = 1e6;

/// How a drive served a trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Replayed {
    /// Response times of all requests.
    #[serde(flatten)]
    pub all: Responses,
    /// Those of reads.
    pub reads: Option<Responses>,
    /// Those of writes.
    pub writes: Option<Responses>,
    /// Those in the trace, if that tells them.
    pub traced: Option<Responses>,
    /// Where the mean of all goes, in milliseconds; the queue is the host's and the drive's.
    pub parts_ms: Parts,
    /// From the first request until all were done.
    pub seconds: f64,
    /// The share of that for which the drive had a request.
    pub busy: f64,
    /// How many waited at most.
    pub queue_most: usize,
    /// How many stood in the trace behind others that came later, and were taken to come with them;
    /// without those that came before the first.
    pub out_of_order: u64,
}

/// Response times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Responses {
    /// How many.
    pub requests: u64,
    /// Their mean.
    pub mean_ms: f64,
    /// What half of them are not above.
    pub p50_ms: f64,
    /// What 95 % are not above.
    pub p95_ms: f64,
    /// What 99 % are not above.
    pub p99_ms: f64,
}

impl Responses {
    fn of(spread: &Spread) -> Option<Self> {
        (spread.count() > 0).then(|| Self {
            requests: spread.count(),
            mean_ms: spread.mean() / MILLISECOND,
            p50_ms: spread.quantile(0.5) / MILLISECOND,
            p95_ms: spread.quantile(0.95) / MILLISECOND,
            p99_ms: spread.quantile(0.99) / MILLISECOND,
        })
    }
}

/// What is counted while a trace is served.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    all: Spread,
    kinds: [Spread; 2],
    traced: Spread,
    /// By the parts of [`Service`].
    parts: [u128; 6],
    busy: u128,
    first: Option<u64>,
    last: u64,
    most: usize,
}

impl Tally {
    /// Count a request that came, and took so long in the trace.
    pub fn came(&mut self, now: u64, took: Option<u64>) {
        self.first.get_or_insert(now);
        took.into_iter().for_each(|took| self.traced.add(took));
    }

    /// Count those that wait.
    pub fn waits(&mut self, waiting: usize) {
        self.most = self.most.max(waiting);
    }

    /// Count a request that came at one time and was passed to the drive at another.
    pub fn served(&mut self, write: bool, since: u64, now: u64, service: Service) {
        let Service { queue, overhead, seek, rotation, transfer, bus } = service;
        let own = [queue + now - since, overhead, seek, rotation, transfer, bus];
        self.parts.iter_mut().zip(own).for_each(|(sum, part)| *sum += u128::from(part));
        self.busy += u128::from(service.response());
        let response: u64 = own.iter().sum();
        self.all.add(response);
        self.kinds[usize::from(write)].add(response);
        self.last = self.last.max(since + response);
    }

    /// What became of all; None if there were none.
    pub fn replayed(&self, out_of_order: u64) -> Option<Replayed> {
        let all = Responses::of(&self.all)?;
        let mean = |part: usize| self.parts[part] as f64 / MILLISECOND / all.requests as f64;
        let elapsed = (self.last - self.first?).max(1);
        Some(Replayed {
            all,
            reads: Responses::of(&self.kinds[0]),
            writes: Responses::of(&self.kinds[1]),
            traced: Responses::of(&self.traced),
            parts_ms: Parts {
                queue: mean(0),
                overhead: mean(1),
                seek: mean(2),
                rotation: mean(3),
                transfer: mean(4),
                bus: mean(5),
            },
            seconds: elapsed as f64 / 1e9,
            busy: self.busy as f64 / elapsed as f64,
            queue_most: self.most,
            out_of_order,
        })
    }
}
