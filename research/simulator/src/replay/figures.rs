//! Results of replaying a trace.

use crate::spread::Spread;
use crate::validation::Parts;
use birthmark_storage::drive::Service;
use serde::Serialize;

/// Nanoseconds of a millisecond.
const MILLISECOND: f64 = 1e6;

/// Results of a drive serving a trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Replayed {
    /// Response times of all requests.
    #[serde(flatten)]
    pub all: Responses,
    /// Response times of reads.
    pub reads: Option<Responses>,
    /// Response times of writes.
    pub writes: Option<Responses>,
    /// Response times in the trace, if recorded.
    pub traced: Option<Responses>,
    /// Parts of the mean of all, in milliseconds; the queue is the host's and the drive's.
    pub parts_ms: Parts,
    /// From the first request until all were done.
    pub seconds: f64,
    /// Utilization of the drive.
    pub busy: f64,
    /// Longest queue.
    pub queue_most: usize,
    /// Requests that stood in the trace behind later ones, and got their time; those before the
    /// first are not counted.
    pub out_of_order: u64,
}

/// Response times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Responses {
    /// Number of requests.
    pub requests: u64,
    /// Mean.
    pub mean_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
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

/// Counters while a trace is served.
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
    /// Count an arrival, with its duration in the trace.
    pub fn came(&mut self, now: u64, took: Option<u64>) {
        self.first.get_or_insert(now);
        took.into_iter().for_each(|took| self.traced.add(took));
    }

    /// Count the waiting requests.
    pub fn waits(&mut self, waiting: usize) {
        self.most = self.most.max(waiting);
    }

    /// Count a request, with its arrival and the time at which the drive got it.
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

    /// The results; None without requests.
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
